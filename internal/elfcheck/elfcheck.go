// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package elfcheck looks at every ELF file of a component's folder for what
// ties it to the place where it was built: a build path anywhere in its bytes,
// and a library search path that is not relative to the file. For the builder,
// before an output enters the store, and for the release.
//
// A path is found where it stands as it is: in strings, debug information and
// search paths. One inside a compressed section is found too; one inside other
// compressed data (an embedded archive) is not.
package elfcheck

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// The kinds of a Finding.
const (
	BuildPath = "build path" // Text is the string that holds it
	RPath     = "RPATH"      // Text is the whole RPATH: any is wrong, it goes before LD_LIBRARY_PATH
	RunPath   = "RUNPATH"    // Text is the entry that is not $ORIGIN…
	Broken    = "broken"     // Text says why the file cannot be read as ELF
)

// A Finding is one thing that is wrong with one file.
type Finding struct {
	File    string `json:"file"`              // from the folder, with slashes
	Section string `json:"section,omitempty"` // where a build path is, when it lies in a section
	Kind    string `json:"kind"`
	Text    string `json:"text"` // at most 200 bytes
}

func (f Finding) String() string {
	if f.Section != "" {
		return fmt.Sprintf("%s: %s in %s: %s", f.File, f.Kind, f.Section, f.Text)
	}
	return fmt.Sprintf("%s: %s: %s", f.File, f.Kind, f.Text)
}

// Folder checks every regular file below dir that starts as an ELF file does,
// and returns what is wrong, sorted, and how many ELF files there are. A
// forbidden entry is an absolute path; it is found where a path begins with it
// and a component ends behind it: /build is in "/build/x.c", not in "/builder",
// "https://example.org/build/x" or "{base}/build/x". One that ends in a slash
// is found only where something stands in that folder: /build/ is not in
// "GET /build".
func Folder(dir string, forbidden []string) (findings []Finding, files int, err error) {
	for _, f := range forbidden {
		if !path.IsAbs(f) || path.Clean(f) == "/" {
			return nil, 0, fmt.Errorf("forbidden path %q: not absolute, or the root", f)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		found, is, err := check(f, forbidden)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if is {
			files++
		}
		for _, x := range found {
			x.File = name
			findings = append(findings, x)
		}
		return nil
	})
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Section, b.Section), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(findings), files, err
}

// check looks at one file; is tells whether it starts as an ELF file does.
func check(f io.ReaderAt, forbidden []string) (found []Finding, is bool, err error) {
	magic := make([]byte, len(elf.ELFMAG))
	if n, err := f.ReadAt(magic, 0); n < len(magic) {
		if errors.Is(err, io.EOF) {
			return nil, false, nil
		}
		return nil, false, err
	}
	if string(magic) != elf.ELFMAG {
		return nil, false, nil
	}
	file, err := elf.NewFile(f)
	if err != nil {
		// It is still searched: what a loader accepts is not what we accept.
		found = append(found, Finding{Kind: Broken, Text: short(err.Error())})
	} else {
		found = append(found, searchPaths(file)...)
	}
	inSections, covered := sections(file, forbidden)
	found = append(found, inSections...)
	whole, err := scan(io.NewSectionReader(f, 0, 1<<62), forbidden)
	if err != nil {
		return nil, true, err
	}
	for _, text := range whole { // what no section holds
		if !covered[text] {
			found = append(found, Finding{Kind: BuildPath, Text: text})
		}
	}
	return found, true, nil
}

func searchPaths(file *elf.File) (found []Finding) {
	for _, tag := range []struct {
		tag  elf.DynTag
		kind string
	}{{elf.DT_RPATH, RPath}, {elf.DT_RUNPATH, RunPath}} {
		values, err := file.DynString(tag.tag)
		if err != nil {
			found = append(found, Finding{Kind: Broken, Text: short(err.Error())})
			continue
		}
		for _, value := range values {
			if tag.kind == RPath {
				found = append(found, Finding{Kind: RPath, Text: short(value)})
				continue
			}
			for _, entry := range strings.Split(value, ":") {
				if !relative(entry) {
					found = append(found, Finding{Kind: RunPath, Text: short(entry)})
				}
			}
		}
	}
	return found
}

// relative reports whether a search path starts from the file's own folder.
// An empty entry is the working folder of whoever runs it.
func relative(entry string) bool {
	rest, ok := strings.CutPrefix(entry, "$ORIGIN")
	if !ok {
		rest, ok = strings.CutPrefix(entry, "${ORIGIN}")
	}
	return ok && (rest == "" || rest[0] == '/')
}

// sections searches the sections, decompressed; covered are the strings found.
func sections(file *elf.File, forbidden []string) (found []Finding, covered map[string]bool) {
	covered = map[string]bool{}
	if file == nil {
		return nil, covered
	}
	for _, s := range file.Sections {
		if s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL {
			continue
		}
		texts, err := scan(s.Open(), forbidden)
		if err != nil {
			found = append(found, Finding{Section: s.Name, Kind: Broken, Text: short(err.Error())})
			continue
		}
		for _, text := range texts {
			covered[text] = true
			found = append(found, Finding{Section: s.Name, Kind: BuildPath, Text: text})
		}
	}
	return found, covered
}

// Sizes of what is read at once and of what is looked at around a hit. The
// pieces overlap, so that nothing lies between two.
const (
	piece   = 1 << 20
	overlap = 4 << 10
	most    = 200 // bytes of a string that are shown
)

// scan returns the distinct strings of r that hold a forbidden path, sorted.
func scan(r io.Reader, forbidden []string) ([]string, error) {
	seen := map[string]bool{}
	buffer := make([]byte, 0, piece+overlap)
	for {
		kept := len(buffer)
		n, err := io.ReadFull(r, buffer[kept:cap(buffer)])
		buffer = buffer[:kept+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return nil, err
		}
		for _, f := range forbidden {
			find(buffer, []byte(path.Clean(f)), strings.HasSuffix(f, "/"), last, seen)
		}
		if last {
			list := make([]string, 0, len(seen))
			for text := range seen {
				list = append(list, text)
			}
			slices.Sort(list)
			return list, nil
		}
		tail := buffer[max(0, len(buffer)-overlap):]
		buffer = buffer[:copy(buffer[:cap(buffer)], tail)]
	}
}

// find adds the strings of b that hold the path, or with folder something in
// it. A hit whose string may go on in the next piece is left to that piece.
func find(b, path []byte, folder, last bool, seen map[string]bool) {
	for at := 0; ; {
		i := bytes.Index(b[at:], path)
		if i < 0 {
			return
		}
		start, end := at+i, at+i+len(path)
		at = end
		if !last && start > len(b)-overlap/2 {
			continue
		}
		if end < len(b) && component(b[end]) || start > 0 && (component(b[start-1]) || closes(b[start-1])) {
			continue
		}
		if folder && (end+1 >= len(b) || b[end] != '/' || !component(b[end+1])) {
			continue
		}
		for start > 0 && printable(b[start-1]) && at-start < most/2 {
			start--
		}
		for end < len(b) && printable(b[end]) && end-start < most {
			end++
		}
		seen[string(b[start:end])] = true
	}
}

// component reports whether c goes on with the name of a file or folder.
func component(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c >= 0x80
}

// closes reports whether c ends a placeholder: what follows is below whatever
// is put there.
func closes(c byte) bool { return c == '}' || c == ')' || c == ']' || c == '>' }

func printable(c byte) bool { return c >= ' ' && c < 0x7f }

func short(s string) string { return s[:min(len(s), most)] }
