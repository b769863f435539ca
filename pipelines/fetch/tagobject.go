// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pins"
)

// keepTag brings the object of an annotated tag here: what the keys of a pin
// sign is often the tag, not the commit, which is fetched without it.
func (e *Engine) keepTag(ctx context.Context, p *pins.Pin, c *Candidate) error {
	r, err := e.pinRepo(ctx, p)
	if err != nil {
		return err
	}
	defer r.Close()
	kept := KeptRef(p.Name, c.TagObject)
	missing, err := r.Missing(ctx, []git.ID{c.TagObject})
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return r.SetRef(ctx, kept, c.TagObject)
	}
	if err := e.online("the tag " + quoted(c.Version)); err != nil {
		return err
	}
	spec := git.FetchSpec{Refs: []git.Refspec{{From: "refs/tags/" + c.Version, To: kept}}, Filter: "blob:none"}
	if r.Shallow() {
		spec.Depth = 1
	}
	if err := r.Fetch(ctx, r.place.Remote(), spec); err != nil {
		return err
	}
	switch id, err := r.RevParse(ctx, kept); {
	case err != nil:
		return err
	case id != c.TagObject:
		return &Moved{Tag: c.Version, Old: c.TagObject, New: id} // since it was resolved
	}
	return nil
}
