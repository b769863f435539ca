// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package treesum computes t1: sums, by which the content of a source tree is
// locked. A sum is dirhash.Hash1 of golang.org/x/mod over entries that are
// named "<mode> <path>", with t1: in front instead of h1:. The content of an
// entry is
//
//	100644, 100755      the file's bytes, without filters
//	120000              the symbolic link's target
//	160000              the submodule's own t1: sum
//	excluded <mode> …   the object id of what was left out
//
// FromGit computes it from git objects without a checkout, FromFolder from
// files on a disk; both give the same sum for the same tree. Neither sums
// empty folders, owners or times: git has none.
package treesum

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// Prefix begins every sum.
const Prefix = "t1:"

// Valid tells whether s has the form of a sum.
func Valid(s string) bool {
	b, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(s, Prefix))
	return err == nil && len(b) == sha256.Size && strings.HasPrefix(s, Prefix)
}

// Excluded is one file or submodule that is left out of a tree.
type Excluded struct {
	Path string
	Mode git.Mode
	ID   git.ID
	Size int64 // bytes; 0 for a submodule, and where the object is not here
}

// A Digest is one file or symbolic link whose content is digested already.
type Digest struct {
	Mode   git.Mode
	Path   string
	SHA256 [sha256.Size]byte
}

// FromDigests sums a tree without submodules and exclusions, for those who read
// the contents anyway. A path that is there twice or has a newline is an error.
func FromDigests(files []Digest) (string, error) {
	lines := make([]line, len(files))
	for i, f := range files {
		lines[i] = line{entryName(f.Mode, f.Path), f.SHA256}
	}
	return sum(lines)
}

// A line is one entry of the sum: the digest of a content, and a name.
type line struct {
	name   string
	digest [sha256.Size]byte
}

// sum is what dirhash.Hash1 does once the contents are digested.
func sum(lines []line) (string, error) {
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.name, b.name) })
	h := sha256.New()
	buf := make([]byte, 0, 512)
	for i, l := range lines {
		if strings.Contains(l.name, "\n") {
			return "", fmt.Errorf("the name %q has a newline and cannot be summed", l.name)
		}
		if i > 0 && lines[i-1].name == l.name {
			return "", fmt.Errorf("the name %q is there twice", l.name)
		}
		buf = hex.AppendEncode(buf[:0], l.digest[:])
		buf = append(append(append(buf, "  "...), l.name...), '\n')
		h.Write(buf)
	}
	return Prefix + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

func entryName(mode git.Mode, path string) string { return mode.String() + " " + path }

func submoduleLine(path, s string) (line, error) {
	if !Valid(s) {
		return line{}, fmt.Errorf("the sum %q of the submodule %q has not the form of one", s, path)
	}
	return line{entryName(git.ModeSubmodule, path), sha256.Sum256([]byte(s))}, nil
}

func excludedLine(x Excluded) line {
	return line{"excluded " + entryName(x.Mode, x.Path), sha256.Sum256([]byte(x.ID))}
}

// digester reuses one hash and one buffer.
type digester struct{ buf []byte }

func (d *digester) of(r io.Reader) (out [sha256.Size]byte, err error) {
	if d.buf == nil {
		d.buf = make([]byte, 128<<10)
	}
	h := sha256.New()
	// Without these wrappers, ReadFrom and WriteTo would bring buffers of
	// their own.
	_, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, d.buf)
	h.Sum(out[:0])
	return out, err
}
