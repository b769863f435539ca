// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/store"
)

// A Difference is something that two builds of one component do not share.
type Difference struct {
	Path     string   `json:"path"`
	What     []string `json:"what"`               // missing, mode, or the parts that differ
	Excepted string   `json:"excepted,omitempty"` // the recipe's reason why that cannot be helped
}

// compare returns the differences between two outputs.
func compare(a, b *store.Entry, filesA, filesB []store.File, exceptions []Exception) ([]Difference, error) {
	other := map[string]store.File{}
	for _, f := range filesB {
		other[f.Path] = f
	}
	var diffs []Difference
	for _, f := range filesA {
		g, ok := other[f.Path]
		delete(other, f.Path)
		d := Difference{Path: f.Path}
		switch {
		case !ok:
			d.What = []string{"missing in the second build"}
		case f.Mode != g.Mode:
			d.What = []string{fmt.Sprintf("mode %s, then %s", f.Mode, g.Mode)}
		case f.SHA256 != g.SHA256:
			var err error
			if d.What, err = partsOf(filepath.Join(a.Path, f.Path), filepath.Join(b.Path, f.Path)); err != nil {
				return nil, err
			}
		default:
			continue
		}
		diffs = append(diffs, d)
	}
	for name := range other {
		diffs = append(diffs, Difference{Path: name, What: []string{"missing in the first build"}})
	}
	for i := range diffs {
		for _, e := range exceptions {
			if ok, _ := path.Match(e.Path, diffs[i].Path); ok {
				diffs[i].Excepted = e.Why
			}
		}
	}
	slices.SortFunc(diffs, func(x, y Difference) int { return strings.Compare(x.Path, y.Path) })
	return diffs, nil
}

// partsOf says where two files differ: by ELF section, by archive member, or at
// which byte first.
func partsOf(a, b string) ([]string, error) {
	x, err := os.ReadFile(a)
	if err != nil {
		return nil, err
	}
	y, err := os.ReadFile(b)
	if err != nil {
		return nil, err
	}
	var names []string
	switch {
	case bytes.HasPrefix(x, []byte(elf.ELFMAG)) && bytes.HasPrefix(y, []byte(elf.ELFMAG)):
		names = differing(sections(x), sections(y), "section")
	case bytes.HasPrefix(x, []byte(arMagic)) && bytes.HasPrefix(y, []byte(arMagic)):
		names = differing(members(x), members(y), "member")
	}
	if len(names) > 0 {
		return names, nil
	}
	at := 0
	for at < min(len(x), len(y)) && x[at] == y[at] {
		at++
	}
	return []string{fmt.Sprintf("%d and %d bytes, from byte %d on", len(x), len(y), at)}, nil
}

// differing names the parts that are not the same in both.
func differing(a, b map[string][]byte, kind string) []string {
	var names []string
	for name, content := range a {
		if c, ok := b[name]; !ok || !bytes.Equal(content, c) {
			names = append(names, kind+" "+name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, kind+" "+name)
		}
	}
	slices.Sort(names)
	return names
}

// sections returns the content of an ELF file's sections; none where it cannot
// be read.
func sections(data []byte) map[string][]byte {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	parts := map[string][]byte{}
	for i, s := range f.Sections {
		if s.Type == elf.SHT_NOBITS || s.Name == "" {
			continue
		}
		content, err := s.Data()
		if err != nil {
			return nil
		}
		name := s.Name
		if _, twice := parts[name]; twice {
			name = fmt.Sprintf("%s (%d)", name, i)
		}
		parts[name] = content
	}
	return parts
}

const arMagic = "!<arch>\n"

// members returns the members of an ar archive, with their headers, so that a
// differing time counts too.
func members(data []byte) map[string][]byte {
	parts := map[string][]byte{}
	for at := len(arMagic); at+60 <= len(data); {
		size, err := strconv.Atoi(strings.TrimSpace(string(data[at+48 : at+58])))
		if err != nil || size < 0 || at+60+size > len(data) {
			return nil
		}
		name := strings.TrimSpace(string(data[at : at+16]))
		if _, twice := parts[name]; twice {
			name = fmt.Sprintf("%s (at %d)", name, at)
		}
		parts[name] = data[at : at+60+size]
		at += 60 + size + size%2
	}
	return parts
}
