// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// PublishOptions say where a stack goes.
type PublishOptions struct {
	Remote git.Remote
	Branch string // short name of the branch there; default dist/<stack>
	Main   string // the ref that counts as merged; default refs/remotes/origin/main, else refs/heads/main
	Source Source
}

// A Published is what was pushed.
type Published struct {
	Stack   string `json:"stack"`
	Branch  string `json:"branch"`
	Tip     git.ID `json:"tip"`
	Tag     string `json:"tag"`
	OldTip  git.ID `json:"old-tip,omitempty"`
	OldTag  string `json:"old-tag,omitempty"`
	Changed bool   `json:"changed"` // false: everything was there already
}

// Publish pushes the commits of a stack as a branch and a tag named after the
// tip. The tip that the branch had is kept: its tag is pushed first, and the
// branch then moves only if it is still there.
//
// It is for what was merged: the pin file and the stack's folder must be
// exactly those of main, in the work tree too; otherwise the verdict is held.
func (r *Repository) Publish(ctx context.Context, name string, o PublishOptions) (*Published, error) {
	pin := r.PinOf(name)
	if pin == nil {
		return nil, verdict.Usagef("stack %s: no pin names it with 'stack:', only stacks of pins are published", name)
	}
	if err := r.merged(ctx, name, pin.Name, o.Main); err != nil {
		return nil, err
	}
	s, repo, commits, trees, done, err := r.rebuilt(ctx, name, o.Source)
	if err != nil {
		return nil, err
	}
	defer done()
	if s.Base != git.ID(pin.Lock.Commit) {
		return nil, verdict.Heldf("stack %s is not written for the locked commit of pin %s: rebase it first", name, pin.Name)
	}
	if err := CheckSteps(s, pin.Lock, trees); err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return nil, verdict.Failf("stack %s has no patches: there is nothing to publish", name)
	}
	p := &Published{Stack: name, Branch: o.Branch, Tip: commits[len(commits)-1]}
	if p.Branch == "" {
		p.Branch = "dist/" + name
	}
	branch := "refs/heads/" + p.Branch
	if err := git.CheckRefName(branch); err != nil {
		return nil, verdict.Usagef("--branch: %s", err)
	}
	p.Tag = tagOf(name, p.Tip)
	refs, err := git.LsRemote(ctx, o.Remote, branch, "refs/tags/"+name+"-*")
	if err != nil {
		return nil, err
	}
	have := func(ref string) git.ID {
		x, _ := refs.Find(ref)
		return x.ID
	}
	if id := have("refs/tags/" + p.Tag); id != "" && id != p.Tip {
		return nil, verdict.Failf("the tag %s is there already and names %s, not %s: it was moved or made by somebody else", p.Tag, id.Short(), p.Tip.Short())
	}
	if old := have(branch); old != "" && old != p.Tip {
		p.OldTip, p.OldTag = old, tagOf(name, old)
		if err := keepOld(ctx, repo, o.Remote, branch, p, have("refs/tags/"+p.OldTag)); err != nil {
			return nil, err
		}
	}
	var push []git.PushRef
	if have(branch) != p.Tip {
		push = append(push, git.PushRef{Ref: branch, ID: p.Tip, Expect: have(branch)})
	}
	if have("refs/tags/"+p.Tag) == "" {
		push = append(push, git.PushRef{Ref: "refs/tags/" + p.Tag, ID: p.Tip})
	}
	if len(push) == 0 {
		return p, nil
	}
	p.Changed = true
	return p, repo.Push(ctx, o.Remote, push...)
}

// tagOf names the tag that keeps a tip.
func tagOf(stack string, tip git.ID) string { return stack + "-" + tip.Short() }

// keepOld pushes the tag of the tip that the branch is about to lose.
func keepOld(ctx context.Context, repo *git.Repo, remote git.Remote, branch string, p *Published, tagged git.ID) error {
	switch {
	case tagged == p.OldTip:
		return nil
	case tagged != "":
		return verdict.Failf("the tag %s is there already and names %s, not the branch's old tip %s: nothing was pushed", p.OldTag, tagged.Short(), p.OldTip.Short())
	}
	// A tag is pushed from here, so its commit has to be here.
	if _, err := repo.CommitInfo(ctx, string(p.OldTip)); err != nil {
		if err := repo.Fetch(ctx, remote, git.FetchSpec{Refs: []git.Refspec{{From: branch, To: "refs/dist/old"}}}); err != nil {
			return err
		}
		if now, err := repo.RevParse(ctx, "refs/dist/old"); err != nil || now != p.OldTip {
			return &git.RefMoved{Where: remote.URL, Ref: branch, Want: p.OldTip, Have: now}
		}
	}
	return repo.Push(ctx, remote, git.PushRef{Ref: "refs/tags/" + p.OldTag, ID: p.OldTip})
}

// merged demands that pin and stack in the work tree are those of main. Every
// byte is compared, not what an index remembers.
func (r *Repository) merged(ctx context.Context, stack, pin, main string) error {
	repo, err := git.Open(ctx, r.Root)
	if err != nil {
		return verdict.Heldf("stack %s: only what is merged is published, and %s is no git repository", stack, r.Root)
	}
	var tip *git.Commit
	for _, ref := range []string{main, "refs/remotes/origin/main", "refs/heads/main"} {
		if ref == "" {
			continue
		}
		if tip, err = repo.CommitInfo(ctx, ref); err == nil || main != "" {
			break
		}
	}
	if err != nil {
		return verdict.Heldf("stack %s: only what is merged is published, and there is no branch main here: fetch it, or name its ref with --main", stack)
	}
	entries, err := repo.LsTree(ctx, tip.Tree)
	if err != nil {
		return err
	}
	folder, pinPath := path.Join(Folder, stack), path.Join("pins", pin+".yaml")
	committed := map[string]git.Entry{}
	for _, e := range entries {
		if e.Path == pinPath || strings.HasPrefix(e.Path, folder+"/") {
			committed[e.Path] = e
		}
	}
	held := func(path, how string) error {
		return verdict.Heldf("stack %s: %s %s: only what is merged is published", stack, path, how)
	}
	files := []string{pinPath}
	err = filepath.WalkDir(r.dir(stack), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.Root, p)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(f)))
		if err != nil {
			return err
		}
		e, ok := committed[f]
		delete(committed, f)
		if !ok {
			return held(f, "is not on main")
		}
		// A checkout may have other line ends than the repository; a patch
		// may not.
		if !strings.HasSuffix(f, Extension) {
			data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		}
		if git.HashObject("blob", data) != e.ID {
			return held(f, "differs from main")
		}
	}
	for f := range committed {
		return held(f, "is on main and not here")
	}
	return nil
}

// Describe says in one line what Publish did.
func (p *Published) Describe() string {
	if !p.Changed {
		return fmt.Sprintf("%s is there already: %s at %s", p.Stack, p.Branch, p.Tip)
	}
	kept := ""
	if p.OldTag != "" {
		kept = fmt.Sprintf("; the old tip is kept as %s", p.OldTag)
	}
	return fmt.Sprintf("%s: %s at %s, tag %s%s", p.Stack, p.Branch, p.Tip, p.Tag, kept)
}
