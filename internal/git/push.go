// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A PushRef is one ref to move on a remote.
type PushRef struct {
	Ref    string // full name there
	ID     ID     // what it shall point at; empty deletes it
	Expect ID     // where it must be now; empty: it must not exist
}

// Push moves refs of a remote, each only if it is where the caller last saw
// it, and all or none where the remote can do that. It uses the network.
//
// Errors: *RefMoved when a ref is elsewhere, *PushRefused with the remote's
// reason, and those of LsRemote.
func (r *Repo) Push(ctx context.Context, remote Remote, refs ...PushRef) error {
	t, err := remote.check()
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		return errors.New("push: no ref was named")
	}
	args := append([]string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-progress"}, t.local("--receive-pack", "receive-pack")...)
	if len(refs) > 1 {
		args = append(args, "--atomic")
	}
	var specs []string
	for _, p := range refs {
		if err := CheckRefName(p.Ref); err != nil {
			return err
		}
		for _, id := range []ID{p.ID, p.Expect} {
			if id != "" && check(id) != nil {
				return check(id)
			}
		}
		args = append(args, "--force-with-lease="+p.Ref+":"+string(p.Expect))
		specs = append(specs, string(p.ID)+":"+p.Ref)
	}
	args = append(append(args, "--end-of-options", t.arg), specs...)
	c := command(r.dir, t.config(), t.secret, args)
	c.Secrets = t.secrets
	res, err := c.Run(ctx)
	if err == nil {
		return nil
	}
	return t.explainPush(refs, string(res.Stdout), func() error { return t.explain(ctx, res, err) })
}

// explainPush reads git's table of refs; the first one that was refused for a
// reason of its own decides.
func (t *target) explainPush(refs []PushRef, table string, otherwise func() error) error {
	var refused error
	for l := range strings.Lines(table) {
		f := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		if len(f) != 3 || f[0] != "!" {
			continue
		}
		_, ref, _ := strings.Cut(f[1], ":")
		why := f[2]
		if i := strings.Index(why, "("); i >= 0 {
			why = strings.TrimSuffix(why[i+1:], ")")
		}
		switch {
		case strings.Contains(why, "stale info"), strings.Contains(why, "already exists"),
			strings.Contains(why, "fetch first"), strings.Contains(why, "failed to update ref"), strings.Contains(why, "cannot lock ref"),
			strings.Contains(why, "failed to lock"):
			for _, p := range refs {
				if p.Ref == ref {
					return &RefMoved{Where: t.shown, Ref: ref, Want: p.Expect}
				}
			}
		case strings.Contains(why, "atomic"):
			if refused == nil {
				refused = fmt.Errorf("push to %s: the ref %s was held back because of another", t.shown, plain(ref))
			}
			continue
		}
		var p *PushRefused
		if !errors.As(refused, &p) {
			refused = &PushRefused{t.shown, ref, why}
		}
	}
	if refused != nil {
		return refused
	}
	return otherwise()
}
