// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

// read returns the content of a file.
func (f Files) read(path string) (string, error) {
	if err := f.denied(path); err != nil {
		return "", err
	}
	b, err := os.ReadFile(f.real(path))
	return string(b), err
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
