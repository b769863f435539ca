// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
)

// header is the text of the two lines, without comment signs.
var header = [2]string{
	"Copyright 2026 The 1bit engine authors",
	"SPDX-License" + "-Identifier: Apache-2.0",
}

// headerReach is how many lines from the top a misplaced or foreign notice is
// looked for.
const headerReach = 15

// A Problem is a file that does not carry the header as it should.
type Problem struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// A Headers is the outcome of a look at every file's header.
type Headers struct {
	Files    int       `json:"files"` // those that carry a header or should
	Exempt   int       `json:"exempt"`
	Fixed    []string  `json:"fixed"`    // files that FixHeaders changed
	Problems []Problem `json:"problems"` // what is wrong still
}

// CheckHeaders looks at every file of the work tree at root. All problems are
// in the result; the error is about git or reading only.
func CheckHeaders(ctx context.Context, root string) (*Headers, error) {
	return headers(ctx, root, false)
}

// FixHeaders adds or moves the header where that needs no judgement, and
// returns what is wrong still. Modes and line ends stay as they are. A second
// run changes nothing.
func FixHeaders(ctx context.Context, root string) (*Headers, error) { return headers(ctx, root, true) }

func headers(ctx context.Context, root string, fix bool) (*Headers, error) {
	names, err := files(ctx, root)
	if err != nil {
		return nil, err
	}
	h := &Headers{Fixed: []string{}, Problems: []Problem{}}
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s, carries, known := styleOf(name, firstLine(data))
		switch {
		case !known:
			h.Problems = append(h.Problems, Problem{name, "unknown file type: add its comment style, or why it has none, to pipelines/check/styles.go"})
			continue
		case !carries:
			h.Exempt++
			continue
		}
		h.Files++
		why, fixed := judge(name, data, s)
		if why == "" {
			continue
		}
		if !fix || fixed == nil {
			h.Problems = append(h.Problems, Problem{name, why})
			continue
		}
		if err := replace(path, fixed); err != nil {
			return nil, err
		}
		h.Fixed = append(h.Fixed, name)
	}
	return h, nil
}

var foreign = regexp.MustCompile(`(?i)\bcopyright\s+(\(c\)|©|\d{4})|SPDX-License` + `-Identifier:`)

// judge says what is wrong with the header of a file, "" for nothing, and
// what its content should be; nil where a person must decide.
func judge(name string, data []byte, s style) (why string, fixed []byte) {
	eol := "\n"
	if strings.HasSuffix(firstLineRaw(data), "\r\n") {
		eol = "\r\n"
	}
	var bom []byte
	if rest, ok := bytes.CutPrefix(data, []byte("\ufeff")); ok {
		bom, data = data[:len(data)-len(rest)], rest
	}
	lines := strings.SplitAfter(string(data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	top := 0
	for top < len(lines) && leads(trim(lines[top]), s) {
		top++
	}
	want := [2]string{s.before + header[0] + s.after, s.before + header[1] + s.after}
	at := -1
	for i := 0; i+1 < len(lines) && i < headerReach; i++ {
		if trim(lines[i]) == want[0] && trim(lines[i+1]) == want[1] {
			at = i
			break
		}
	}
	// Directly above a package clause the header would be documentation.
	apart := func(i int) bool { return !strings.HasSuffix(name, ".go") || i >= len(lines) || trim(lines[i]) == "" }
	switch {
	case at == top && apart(at+2):
		return "", nil
	case at == top:
		why = "no blank line after the copyright header"
	case at >= 0:
		why = "the copyright header is not at the top"
	default:
		for i := 0; i < len(lines) && i < headerReach; i++ {
			if strings.HasPrefix(strings.TrimSpace(lines[i]), strings.TrimSpace(s.before)) && foreign.MatchString(lines[i]) {
				return "another copyright or licence line stands where the header belongs: see whose file it is and mend it by hand", nil
			}
		}
		why = "no copyright header"
	}
	return why, slices.Concat(bom, placed(lines, top, at, want[0]+eol+want[1]+eol, eol))
}

// placed returns the text with the header below its first top lines; at is
// where the header stands now, -1 for nowhere.
func placed(lines []string, top, at int, header, eol string) []byte {
	rest := lines[top:]
	if at >= 0 {
		below := lines[at+2:]
		if at > top && trim(lines[at-1]) == "" { // one blank line between what stood above and below is enough
			below = withoutBlank(below)
		}
		rest = append(slices.Clone(lines[top:at]), below...)
	}
	rest = withoutBlank(rest)
	var b bytes.Buffer
	for _, line := range lines[:top] {
		b.WriteString(line)
	}
	if top > 0 && !strings.HasSuffix(lines[top-1], "\n") {
		b.WriteString(eol)
	}
	b.WriteString(header)
	if len(rest) > 0 {
		b.WriteString(eol)
	}
	for _, line := range rest {
		b.WriteString(line)
	}
	return b.Bytes()
}

// withoutBlank drops the blank lines at the top.
func withoutBlank(lines []string) []string {
	for len(lines) > 0 && trim(lines[0]) == "" {
		lines = lines[1:]
	}
	return lines
}

func trim(line string) string { return strings.TrimRight(line, "\r\n") }

func firstLineRaw(data []byte) string {
	line, _, found := bytes.Cut(data, []byte("\n"))
	if found {
		return string(line) + "\n"
	}
	return string(line)
}

func firstLine(data []byte) string {
	return trim(strings.TrimPrefix(firstLineRaw(data), "\ufeff"))
}

// replace gives the file new content in one step; its mode stays.
func replace(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, info.Mode().Perm())
}
