// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package gittest makes real git repositories for tests, quickly and always
// with the same ids, and serves them over HTTP on loopback.
package gittest

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// Epoch is the date of a repository's first commit; each further one is an
// hour later.
var Epoch = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// A Repo is a bare repository that a test fills. Every method ends the test on
// an error.
type Repo struct {
	*git.Repo
	t     testing.TB
	count int
}

// New makes an empty repository in a temporary folder; its HEAD is
// refs/heads/main.
func New(t testing.TB) *Repo {
	t.Helper()
	r, err := git.Init(context.Background(), t.TempDir()+"/repo.git")
	if err != nil {
		t.Fatal(err)
	}
	return &Repo{Repo: r, t: t}
}

// Git runs a git command on the repository and returns its stdout without the
// newline at its end.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.feed(nil, args...)
}

func (r *Repo) feed(stdin []byte, args ...string) string {
	r.t.Helper()
	c := r.Command(args...)
	c.Stdin = bytes.NewReader(stdin)
	res, err := c.Run(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSuffix(string(res.Stdout), "\n")
}

// Files are changed files: path → content.
type Files map[string]string

// An Option changes one commit.
type Option func(*commit)

type commit struct {
	changes    bytes.Buffer
	parents    []git.ID
	setParents bool
	deleteAll  bool
	exec       map[string]bool
	author     string
	when       time.Time
}

// Exec makes files of this commit executable.
func Exec(paths ...string) Option {
	return func(c *commit) {
		for _, p := range paths {
			c.exec[p] = true
		}
	}
}

// Symlink adds a symbolic link.
func Symlink(path, target string) Option {
	return func(c *commit) {
		fmt.Fprintf(&c.changes, "M 120000 inline %s\ndata %d\n%s\n", quote(path), len(target), target)
	}
}

// Submodule adds a gitlink; Files must hold a fitting .gitmodules.
func Submodule(path string, id git.ID) Option {
	return func(c *commit) { fmt.Fprintf(&c.changes, "M 160000 %s %s\n", id, quote(path)) }
}

// Delete removes files or folders.
func Delete(paths ...string) Option {
	return func(c *commit) {
		for _, p := range paths {
			fmt.Fprintf(&c.changes, "D %s\n", quote(p))
		}
	}
}

// Rename moves a file or folder.
func Rename(from, to string) Option {
	return func(c *commit) { fmt.Fprintf(&c.changes, "R %s %s\n", quote(from), quote(to)) }
}

// Onto puts the commit on other parents than the branch's tip, which is a
// force-push where the tip is not among them. Without parents it is a root.
func Onto(parents ...git.ID) Option {
	return func(c *commit) { c.parents, c.setParents = parents, true }
}

// Author sets name and address of the author, such as "A <a@example.com>".
func Author(who string) Option { return func(c *commit) { c.author = who } }

// At sets the date of author and committer.
func At(when time.Time) Option { return func(c *commit) { c.when = when } }

// Only drops all files of the parent first.
func Only() Option { return func(c *commit) { c.deleteAll = true } }

const identity = "Test <test@example.com>"

// Commit changes files on a branch (a short name, such as main) and returns
// the new commit.
func (r *Repo) Commit(branch, message string, files Files, options ...Option) git.ID {
	r.t.Helper()
	c := &commit{exec: map[string]bool{}, author: identity, when: Epoch.Add(time.Duration(r.count) * time.Hour)}
	r.count++
	for _, o := range options {
		o(c)
	}
	ref := "refs/heads/" + branch
	if !c.setParents {
		if tip, err := r.RevParse(context.Background(), ref); err == nil {
			c.parents = []git.ID{tip}
		}
	}
	var in bytes.Buffer
	date := fmt.Sprintf("%d %s", c.when.Unix(), c.when.Format("-0700"))
	// A fresh ref, because fast-import takes an existing one for the parent.
	fmt.Fprintf(&in, "feature done\nreset refs/gittest/new\n\ncommit refs/gittest/new\nauthor %s %s\ncommitter %s %s\ndata %d\n%s\n", c.author, date, identity, date, len(message), message)
	for i, p := range c.parents {
		fmt.Fprintf(&in, "%s %s\n", [...]string{"from", "merge"}[min(i, 1)], p)
	}
	if c.deleteAll {
		in.WriteString("deleteall\n")
	}
	for path, content := range files {
		mode := "100644"
		if c.exec[path] {
			mode = "100755"
		}
		fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, quote(path), len(content), content)
	}
	in.Write(c.changes.Bytes())
	in.WriteString("\ndone\n")
	r.feed(in.Bytes(), "fast-import", "--quiet", "--force")
	id := git.ID(r.Git("rev-parse", "refs/gittest/new"))
	r.Git("update-ref", ref, string(id))
	r.Git("update-ref", "-d", "refs/gittest/new")
	return id
}

// Move sets a branch to a commit: the tip moves forward, back or aside.
func (r *Repo) Move(branch string, id git.ID) {
	r.t.Helper()
	r.Git("update-ref", "refs/heads/"+branch, string(id))
}

// Tag makes or moves a lightweight tag.
func (r *Repo) Tag(name string, id git.ID) {
	r.t.Helper()
	r.Git("update-ref", "refs/tags/"+name, string(id))
}

// Annotated makes or moves an annotated tag and returns the tag object.
func (r *Repo) Annotated(name, message string, id git.ID) git.ID {
	r.t.Helper()
	kind := r.Git("cat-file", "-t", string(id))
	tag := r.Object("tag", fmt.Appendf(nil, "object %s\ntype %s\ntag %s\ntagger %s %d +0000\n\n%s\n", id, kind, name, identity, Epoch.Unix(), message))
	r.Git("update-ref", "refs/tags/"+name, string(tag))
	return tag
}

// DefaultBranch renames what HEAD points at.
func (r *Repo) DefaultBranch(branch string) {
	r.t.Helper()
	r.Git("symbolic-ref", "HEAD", "refs/heads/"+branch)
}

// Prune drops every object that no ref reaches, as a server does after a
// force-push.
func (r *Repo) Prune() {
	r.t.Helper()
	r.Git("repack", "-a", "-d", "-q")
	r.Git("prune", "--expire=now")
}

// Tree returns the tree of a commit.
func (r *Repo) Tree(commit git.ID) git.ID {
	r.t.Helper()
	return git.ID(r.Git("rev-parse", string(commit)+"^{tree}"))
}

// Object stores an object without any check and returns its id.
func (r *Repo) Object(kind string, content []byte) git.ID {
	r.t.Helper()
	return git.ID(r.feed(content, "hash-object", "-t", kind, "-w", "--stdin", "--literally"))
}

// RawTree stores a tree as given: order, names and modes may be hostile.
func (r *Repo) RawTree(entries ...git.TreeEntry) git.ID {
	r.t.Helper()
	var b bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(string(e.ID))
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%o %s\x00%s", uint32(e.Mode), e.Name, raw)
	}
	return r.Object("tree", b.Bytes())
}

// RawCommit stores a commit of a tree that RawTree made, on a branch.
func (r *Repo) RawCommit(branch, message string, tree git.ID, parents ...git.ID) git.ID {
	r.t.Helper()
	s := git.Signature{Name: "Test", Email: "test@example.com", When: Epoch}
	id, err := r.CommitTree(context.Background(), git.Commit{Tree: tree, Parents: parents, Author: s, Committer: s, Message: message + "\n"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Git("update-ref", "refs/heads/"+branch, string(id))
	return id
}

// quote writes a path as fast-import reads it.
func quote(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		if c := path[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			fmt.Fprintf(&b, `\%03s`, strconv.FormatUint(uint64(c), 8))
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
