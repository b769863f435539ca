// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Lock writes into the lock of the pin what the patches, as they are, lead to,
// and the files as Render and FileNames have them. It is for a stack whose pin
// was verified after its import, or whose messages were edited by hand.
func (r *Repository) Lock(ctx context.Context, name string, source Source) (*Imported, error) {
	s, err := r.Load(name)
	if err != nil {
		return nil, err
	}
	pin := r.PinOf(name)
	if pin == nil || pin.Lock == nil || git.ID(pin.Lock.Commit) != s.Base {
		return nil, verdict.Failf("stack %s is not on the locked commit of a pin: nothing can be written into a lock", name)
	}
	repo, done, err := r.bench(ctx, s, source)
	if err != nil {
		return nil, err
	}
	defer done()
	_, trees, err := Rebuild(ctx, repo, s.Base, s)
	if err != nil {
		return nil, err
	}
	im := &Imported{Stack: s, Name: name, Base: s.Base, trees: trees}
	renamed := map[string]string{}
	old := s.Series.Files()
	setNames(s.Patches)
	for i, p := range s.Patches {
		p.source = nil
		renamed[p.File] = old[i]
		im.Files = append(im.Files, p.File)
	}
	if err := proven(ctx, repo, im); err != nil {
		return nil, err
	}
	s.Series = s.Series.With("", im.Files, renamed)
	return im, r.write(ctx, repo, im)
}
