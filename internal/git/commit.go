// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Signature is who did something and when; When keeps its time zone.
type Signature struct {
	Name, Email string
	When        time.Time // to the second
}

// A Commit is a parsed commit object. Names and message are the bytes that
// the author wrote: untrusted, and in Encoding where that is not empty.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID
	Author    Signature
	Committer Signature
	Encoding  string
	Message   string
}

// Subject is the first line of the message; it is as untrusted as the rest.
func (c *Commit) Subject() string {
	subject, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n")
	return subject
}

// Commit returns a commit, following an annotated tag.
// Errors: *MissingObject, *WrongKind.
func (c *CatFile) Commit(id ID) (*Commit, error) {
	for range 10 { // tags of tags
		h, err := c.Header(id)
		if err != nil {
			return nil, err
		}
		if h.Kind != "tag" {
			break
		}
		content, err := c.Read(id, "tag")
		if err != nil {
			return nil, err
		}
		m := tagObject.FindSubmatch(content)
		if m == nil {
			return nil, fmt.Errorf("the tag %s is broken", id)
		}
		id = ID(m[1])
	}
	content, err := c.Read(id, "commit")
	if err != nil {
		return nil, err
	}
	return ParseCommit(id, content)
}

var tagObject = regexp.MustCompile(`\Aobject ([0-9a-f]{40})\n`)

// ParseCommit reads the content of a commit object.
func ParseCommit(id ID, content []byte) (*Commit, error) {
	c := &Commit{ID: id}
	broken := func(what string) error { return fmt.Errorf("the commit %s is broken: %s", id, what) }
	header, message, _ := bytes.Cut(content, []byte("\n\n"))
	c.Message = string(message)
	for l := range strings.SplitSeq(string(header), "\n") {
		key, value, _ := strings.Cut(l, " ")
		var err error
		switch key {
		case "tree":
			if c.Tree == "" {
				c.Tree, err = ParseID(value)
			}
		case "parent":
			var p ID
			p, err = ParseID(value)
			c.Parents = append(c.Parents, p)
		case "author":
			c.Author, err = parseSignature(value)
		case "committer":
			c.Committer, err = parseSignature(value)
		case "encoding":
			c.Encoding = value
		}
		if err != nil {
			return nil, broken(err.Error())
		}
	}
	if c.Tree == "" {
		return nil, broken("it has no tree")
	}
	return c, nil
}

// parseSignature reads `Name <email> seconds zone`, from the end, because
// names and addresses of old commits contain anything.
func parseSignature(s string) (Signature, error) {
	open := strings.IndexByte(s, '<')
	end := strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		return Signature{}, fmt.Errorf("%s is no author", inertQuote(s))
	}
	sig := Signature{Name: strings.TrimSpace(s[:open]), Email: s[open+1 : end]}
	f := strings.Fields(s[end+1:])
	if len(f) == 0 {
		return sig, nil // before 1970 and broken ones: the zero time
	}
	seconds, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return sig, nil
	}
	zone := time.UTC
	if len(f) > 1 {
		if n, err := strconv.Atoi(f[1]); err == nil && n != 0 && n > -10000 && n < 10000 {
			zone = time.FixedZone("", (n/100*60+n%100)*60)
		}
	}
	sig.When = time.Unix(seconds, 0).In(zone)
	return sig, nil
}
