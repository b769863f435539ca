// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// WriteBlob stores content as it is, without filters, and returns its id.
func (r *Repo) WriteBlob(ctx context.Context, content io.Reader) (ID, error) {
	return r.writeObject(ctx, "blob", content)
}

// WriteTree stores one tree. Entries are sorted here; they must pass the
// checks of CheckTree. The objects they name need not be there.
func (r *Repo) WriteTree(ctx context.Context, entries []TreeEntry) (ID, error) {
	content, err := FormatTree(entries)
	if err != nil {
		return "", err
	}
	return r.writeObject(ctx, "tree", bytes.NewReader(content))
}

// FormatTree returns the content of a tree object; see WriteTree.
func FormatTree(entries []TreeEntry) ([]byte, error) {
	key := func(e TreeEntry) string {
		if e.Mode == ModeTree {
			return e.Name + "/"
		}
		return e.Name
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b TreeEntry) int { return strings.Compare(key(a), key(b)) })
	if err := checkEntries("", entries, Limits{Path: 4000}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(string(e.ID))
		if err != nil || len(raw) != 20 {
			return nil, fmt.Errorf("%s is not an object id", inertQuote(string(e.ID)))
		}
		fmt.Fprintf(&out, "%o %s\x00%s", uint32(e.Mode), e.Name, raw)
	}
	return out.Bytes(), nil
}

// CommitTree stores a commit exactly as given and returns its id, which is a
// function of c alone. c.ID is ignored; tree and parents need not be there.
func (r *Repo) CommitTree(ctx context.Context, c Commit) (ID, error) {
	content, err := FormatCommit(c)
	if err != nil {
		return "", err
	}
	return r.writeObject(ctx, "commit", bytes.NewReader(content))
}

// FormatCommit returns the content of a commit object; see CommitTree.
func FormatCommit(c Commit) ([]byte, error) {
	if err := check(append([]ID{c.Tree}, c.Parents...)...); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&out, "parent %s\n", p)
	}
	for _, s := range []struct {
		role string
		Signature
	}{{"author", c.Author}, {"committer", c.Committer}} {
		if strings.ContainsAny(s.Name+s.Email, "<>\n\x00") {
			return nil, fmt.Errorf("the %s %s has characters that a commit cannot hold", s.role, inertQuote(s.Name+" "+s.Email))
		}
		fmt.Fprintf(&out, "%s %s <%s> %d %s\n", s.role, s.Name, s.Email, s.When.Unix(), zone(s.When))
	}
	if c.Encoding != "" {
		if strings.ContainsAny(c.Encoding, "\n\x00") {
			return nil, fmt.Errorf("the encoding %s cannot be", inertQuote(c.Encoding))
		}
		fmt.Fprintf(&out, "encoding %s\n", c.Encoding)
	}
	if strings.Contains(c.Message, "\x00") {
		return nil, fmt.Errorf("the message of a commit has a NUL byte")
	}
	fmt.Fprintf(&out, "\n%s", c.Message)
	return out.Bytes(), nil
}

func zone(t time.Time) string { return t.Format("-0700") }

func (r *Repo) writeObject(ctx context.Context, kind string, content io.Reader) (ID, error) {
	c := r.Command("hash-object", "-t", kind, "-w", "--stdin", "--no-filters")
	c.Stdin = content
	out, err := output(ctx, c)
	if err != nil {
		return "", fmt.Errorf("store a %s: %w", kind, err)
	}
	return ParseID(line(out))
}
