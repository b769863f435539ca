// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Files is the file system that is looked at: the real one for an empty Root,
// below Root otherwise. Deny, when not nil, says which paths may not be opened,
// for tests that run as a user to whom everything is allowed.
type Files struct {
	Root string
	Deny func(path string) error
}

func (f Files) real(path string) string { return filepath.Join(f.Root, filepath.FromSlash(path)) }

func (f Files) denied(path string) error {
	if f.Deny == nil {
		return nil
	}
	if err := f.Deny(path); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// readLimit is far above any file that is read here.
const readLimit = 4 << 20

// read returns the beginning of a regular file, without what a terminal would
// obey: a container's maker may write some of them.
func (f Files) read(path string) (string, error) {
	if err := f.denied(path); err != nil {
		return "", err
	}
	info, err := os.Stat(f.real(path)) // before opening: a named pipe would block there
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is no regular file")}
	}
	if err != nil {
		return "", err
	}
	file, err := os.Open(f.real(path))
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, readLimit))
	return strings.Map(printable, string(b)), err
}

// printable drops control characters, but for those between the parts of files.
func printable(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == 0:
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
		return -1
	}
	return r
}

// line returns the first line of a file, without blanks around it, or "".
func (f Files) line(path string) string {
	text, err := f.read(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// number returns the number in a file, decimal or with 0x, and 0 without one.
func (f Files) number(path string) int64 {
	n, err := strconv.ParseInt(f.line(path), 0, 64)
	if err != nil {
		return 0
	}
	return n
}

// key returns the value of the first line "key : value" of a file.
func (f Files) key(path, key string) string {
	text, _ := f.read(path)
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// pairs reads lines of a key, a separator and a value.
func pairs(text, sep string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), sep); ok {
			m[k] = strings.TrimSpace(v)
		}
	}
	return m
}

// glob returns the paths, below the root, that match a pattern.
func (f Files) glob(pattern string) []string {
	found, _ := filepath.Glob(f.real(pattern))
	for i, p := range found {
		if f.Root != "" {
			p = strings.TrimPrefix(p, filepath.Clean(f.Root))
		}
		found[i] = filepath.ToSlash(p)
	}
	return found
}

func (f Files) there(path string) bool {
	_, err := os.Stat(f.real(path))
	return err == nil
}

// node opens a device node for reading and writing, and closes it.
func (f Files) node(path string) Node {
	err := f.denied(path)
	if err == nil {
		var file *os.File
		if file, err = os.OpenFile(f.real(path), os.O_RDWR, 0); err == nil {
			file.Close()
			return Node{Path: path, Access: Usable}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return Node{Path: path, Access: Absent, Reason: "there is no " + path}
	case errors.Is(err, syscall.EPERM):
		return Node{Path: path, Access: Denied, Reason: path + " is there, but the rules of this container or cgroup do not let it be opened: pass the device in"}
	case errors.Is(err, fs.ErrPermission):
		return Node{Path: path, Access: Denied, Reason: path + " is there, but this user may not open it: join the group that owns it, usually render"}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return Node{Path: path, Access: Broken, Reason: path + " can not be opened: " + err.Error()}
}
