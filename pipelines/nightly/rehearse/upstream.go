// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// Host is where the upstreams seem to be. A name below .invalid never resolves:
// what forgets the mirrors fails instead of asking somebody.
const Host = "https://upstream.invalid/"

// begin is the date of the first commit of each repository; every further one
// is an hour later, so that ids are the same in every world.
var begin = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// Files are changed files: path → content. An empty content removes the file.
type Files map[string]string

// A Repository is a bare repository of a world.
type Repository struct {
	*git.Repo
	commits int
}

// newRepository makes an empty one.
func newRepository(ctx context.Context, dir string) (*Repository, error) {
	r, err := git.Init(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Repository{Repo: r}, nil
}

// openRepository opens one that another process may have made. Dates go on
// after the commits that it has.
func openRepository(ctx context.Context, dir string) (*Repository, error) {
	r, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	out, err := r.Output(ctx, "rev-list", "--all", "--count")
	if err != nil {
		return nil, err
	}
	x := &Repository{Repo: r}
	_, err = fmt.Sscan(string(out), &x.commits)
	return x, err
}

// A Submodule is an entry of a tree that names a commit of another repository.
type Submodule struct {
	Path   string
	Commit git.ID
}

// Commit adds a commit to a branch and returns it.
func (r *Repository) Commit(ctx context.Context, branch, message string, files Files, subs ...Submodule) (git.ID, error) {
	return r.commit(ctx, branch, "refs/heads/"+branch, message, files, subs)
}

// Beside adds a commit to a branch that does not follow the branch's tip but
// another commit: where that is not the tip itself, history is rewritten.
func (r *Repository) Beside(ctx context.Context, branch string, parent git.ID, message string, files Files) (git.ID, error) {
	return r.commit(ctx, branch, string(parent), message, files, nil)
}

func (r *Repository) commit(ctx context.Context, branch, parent, message string, files Files, subs []Submodule) (git.ID, error) {
	who := fmt.Sprintf("Upstream <upstream@upstream.invalid> %d +0000", begin.Add(time.Duration(r.commits)*time.Hour).Unix())
	const ref = "refs/rehearse/new" // a fresh one: fast-import takes an existing one for the parent
	var in bytes.Buffer
	fmt.Fprintf(&in, "feature done\ncommit %s\nauthor %s\ncommitter %s\ndata %d\n%s\n", ref, who, who, len(message), message)
	if tip, err := r.RevParse(ctx, parent); err == nil {
		fmt.Fprintf(&in, "from %s\n", tip)
	} else if files[licenseFile] == "" {
		files = maps.Clone(files)
		files[licenseFile] = mit
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if content := files[path]; content == "" {
			fmt.Fprintf(&in, "D %s\n", path)
		} else {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
		}
	}
	for _, s := range subs {
		fmt.Fprintf(&in, "M 160000 %s %s\n", s.Commit, s.Path)
	}
	in.WriteString("\ndone\n")
	c := r.Command("fast-import", "--quiet", "--force", "--date-format=raw-permissive")
	c.Stdin = &in
	if _, err := c.Run(ctx); err != nil {
		return "", fmt.Errorf("commit to %s: %w", branch, err)
	}
	id, err := r.RevParse(ctx, ref)
	if err != nil {
		return "", err
	}
	r.commits++
	refs := fmt.Sprintf("update refs/heads/%s %s\ndelete %s\n", branch, id, ref)
	c = r.Command("update-ref", "--stdin")
	c.Stdin = strings.NewReader(refs)
	_, err = c.Run(ctx)
	return id, err
}

// Tag makes or moves a tag.
func (r *Repository) Tag(ctx context.Context, name string, id git.ID) error {
	return r.SetRef(ctx, "refs/tags/"+name, id)
}

const licenseFile = "LICENSE"

// mit is the licence of all upstreams.
const mit = `MIT License

Copyright (c) 2026 The upstream authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`
