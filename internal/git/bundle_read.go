// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Bundle is an opened bundle of somebody who is not trusted. Nothing of its
// objects has been looked at.
type Bundle struct {
	Needs []ID  // commits that the reader must have
	Refs  []Ref // what it brings
	Pack  io.Reader
}

// The most that the head of a bundle may have.
const (
	maxBundleLine  = 4096
	maxBundleLines = 100
)

// ReadBundle reads the head of a bundle of version 2, which is what CreateBundle
// writes; Pack is the rest of r.
func ReadBundle(r io.Reader) (*Bundle, error) {
	in := bufio.NewReaderSize(r, maxBundleLine)
	b := &Bundle{Pack: in}
	for n := range maxBundleLines {
		l, err := in.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("the head of the bundle is cut off, or has a line of more than %d bytes", maxBundleLine)
		}
		text := strings.TrimSuffix(string(l), "\n")
		switch {
		case n == 0 && text == "# v2 git bundle":
		case n == 0:
			return nil, errors.New("this is no bundle of version 2")
		case text == "":
			return b, nil
		case strings.HasPrefix(text, "-"):
			value, _, _ := strings.Cut(text[1:], " ")
			id, err := ParseID(value)
			if err != nil {
				return nil, fmt.Errorf("the bundle: %w", err)
			}
			b.Needs = append(b.Needs, id)
		default:
			value, name, _ := strings.Cut(text, " ")
			id, err := ParseID(value)
			if err == nil {
				err = CheckRefName(name)
			}
			if err != nil {
				return nil, fmt.Errorf("the bundle: %w", err)
			}
			b.Refs = append(b.Refs, Ref{Name: name, ID: id})
		}
	}
	return nil, fmt.Errorf("the head of the bundle has more than %d lines", maxBundleLines)
}

// AddPack stores the objects of a pack of at most max bytes, after git's own
// checks of each: its form, and that what it names is there. The pack may lean
// on objects that the repository has. No ref points at them yet.
func (r *Repo) AddPack(ctx context.Context, pack io.Reader, max int64) error {
	c := command(r.dir, []string{"core.bigFileThreshold=16m"}, nil,
		[]string{"index-pack", "--strict", "--fix-thin", "--max-input-size=" + strconv.FormatInt(max, 10), "--stdin"})
	c.Stdin = pack
	c.Timeout = 10 * time.Minute
	if _, err := output(ctx, c); err != nil {
		return fmt.Errorf("store a pack: %w", err)
	}
	return nil
}
