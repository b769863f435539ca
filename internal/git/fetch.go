// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// CommitRefs is the prefix of the refs under which Fetch keeps the commits
// that it was asked for by id, so that no clean-up takes them away.
const CommitRefs = "refs/commits/"

// A Refspec says which refs of a remote are fetched and under which names they
// are kept. Both sides are full names; both may hold one star.
type Refspec struct{ From, To string }

// A FetchSpec says what to fetch. The zero value of each field is its default;
// there must be a commit or a ref.
type FetchSpec struct {
	Commits  []ID      // exact commits, kept as CommitRefs + id
	Refs     []Refspec // moved by force, as the remote has them
	Depth    int       // commits of history; 0 is all of it
	Filter   string    // "" or "blob:none" or "blob:limit=<n>": leaves out blobs; FetchObjects gets them
	Fallback []string  // refs to look in when the remote gives out no commit by id; default all branches and tags
	// Aside is for refs with a history of their own in somebody's clone: the
	// rest of the clone stays as shallow as it is, and no blob is left out even
	// where the clone leaves out others.
	Aside    bool
	Progress Progress
}

// remoteName is the remote that exists for the time of one fetch. It has to
// count as a promisor for git to accept objects without all of their blobs.
const remoteName = "upstream"

// Fetch gets commits and refs with what they need. It uses the network.
//
// A commit is asked for by its id. Where a remote gives out only what its refs
// point at, the fallback refs are fetched with their history and the commit is
// looked for there.
//
// A filter that the remote does not know is ignored by git: everything comes.
//
// Errors: *Gone, *RefGone, *Malformed, *Incomplete, and those of LsRemote. What was complete before the
// error stays; nothing incomplete gets a ref.
func (r *Repo) Fetch(ctx context.Context, remote Remote, spec FetchSpec) error {
	t, err := remote.check()
	if err != nil {
		return err
	}
	if err := check(spec.Commits...); err != nil {
		return err
	}
	var specs []string
	for _, s := range spec.Refs {
		if err := checkRefspec(s); err != nil {
			return err
		}
		specs = append(specs, "+"+s.From+":"+s.To)
	}
	for _, id := range spec.Commits {
		specs = append(specs, "+"+string(id)+":"+CommitRefs+string(id))
	}
	if len(specs) == 0 {
		return errors.New("fetch: neither a commit nor a ref was named")
	}
	err = r.fetch(ctx, t, spec, specs)
	var refused *refusedObject
	if !errors.As(err, &refused) {
		return err
	}
	return r.fetchFallback(ctx, t, spec, refused.id)
}

// fetchFallback looks for the commits in the history of named refs.
func (r *Repo) fetchFallback(ctx context.Context, t *target, spec FetchSpec, refused ID) error {
	var specs []string
	for _, s := range spec.Refs {
		specs = append(specs, "+"+s.From+":"+s.To)
	}
	from := spec.Fallback
	if len(from) == 0 {
		from = []string{"refs/heads/*", "refs/tags/*"}
	}
	for _, name := range from {
		if err := checkRefspec(Refspec{name, ""}); err != nil {
			return err
		}
		// Kept apart: a fallback must not move a ref that somebody tracks.
		specs = append(specs, "+"+name+":refs/fallback/"+name)
	}
	spec.Depth = 0
	if err := r.fetch(ctx, t, spec, specs); err != nil {
		var again *refusedObject
		var gone *RefGone
		if errors.As(err, &again) || errors.As(err, &gone) && len(spec.Fallback) > 0 {
			return &Gone{t.shown, refused}
		}
		return err
	}
	for _, id := range spec.Commits {
		if ok, err := r.HasCommit(ctx, id); err != nil {
			return err
		} else if !ok {
			return &Gone{t.shown, id}
		}
		if err := r.SetRef(ctx, CommitRefs+string(id), id); err != nil {
			return err
		}
	}
	return nil
}

// fetch runs one git fetch. Refspecs go through stdin: they may be many, and
// none can be an option there.
func (r *Repo) fetch(ctx context.Context, t *target, spec FetchSpec, specs []string) error {
	args := []string{"fetch", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--recurse-submodules=no", "--no-prune", "--update-head-ok", "--stdin"}
	switch {
	case spec.Depth > 0:
		args = append(args, "--depth="+strconv.Itoa(spec.Depth))
	case r.Shallow() && !spec.Aside:
		// On a complete repository it would be an error:
		// https://github.com/chainguard-dev/melange/issues/2284
		args = append(args, "--unshallow")
	}
	if spec.Filter != "" {
		args = append(args, "--filter="+spec.Filter)
	} else if spec.Aside {
		args = append(args, "--no-filter") // else the clone's own is taken
	}
	return r.runFetch(ctx, t, spec.Filter != "" || r.partial(), args, specs, spec.Progress)
}

// runFetch runs git with the remote made up for this one command.
func (r *Repo) runFetch(ctx context.Context, t *target, promisor bool, args, specs []string, progress Progress) error {
	config := append(t.config(), "remote."+remoteName+".url="+t.arg)
	if promisor {
		// With the filter set here, git does not write it into the
		// repository, where it would later fetch on its own.
		config = append(config, "remote."+remoteName+".promisor=true",
			"remote."+remoteName+".partialCloneFilter=blob:none")
	}
	args = append(args, t.local("--upload-pack", "upload-pack")...)
	if progress != nil {
		args = append(args, "--progress")
	} else {
		args = append(args, "--quiet")
	}
	args = append(args, remoteName)
	c := command(r.dir, config, t.secret, args)
	c.Secrets = t.secrets
	c.Stdin = strings.NewReader(strings.Join(specs, "\n") + "\n")
	if progress != nil {
		c.Stderr = &progressWriter{say: progress}
	}
	res, err := c.Run(ctx)
	return t.explain(ctx, res, err)
}

// partial tells whether blobs may be absent: FetchObjects and filters leave a
// mark at each pack.
func (r *Repo) partial() bool { return hasPromisorPack(r.commonDir()) }

// HasCommit tells whether a commit is in the object store; of its history
// nothing is said.
func (r *Repo) HasCommit(ctx context.Context, id ID) (bool, error) {
	if err := check(id); err != nil {
		return false, err
	}
	_, err := r.Output(ctx, "cat-file", "-e", string(id)+"^{commit}")
	if code := exitCode(err); code == 1 || code == 128 {
		return false, nil
	}
	return err == nil, err
}

func checkRefspec(s Refspec) error {
	for _, name := range []string{s.From, s.To} {
		if name == "" && s.From != "" || name == "HEAD" && s.To != name {
			continue
		}
		if err := CheckRefName(strings.Replace(name, "*", "x", 1)); err != nil {
			return err
		}
	}
	if s.To != "" && strings.Contains(s.From, "*") != strings.Contains(s.To, "*") {
		return fmt.Errorf("the refs %s and %s must both have a star or none", plain(s.From), plain(s.To))
	}
	return nil
}
