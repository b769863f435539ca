// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch/declared"
)

// Downloads lists what the build files of a pin's locked source would download,
// and compares that with the inputs and submodules of the lock.
func (e *Engine) Downloads(ctx context.Context, p *pins.Pin) ([]declared.Declared, declared.Result, error) {
	var none declared.Result
	if !commits(p) {
		return nil, none, wrap(p, verdict.Usagef("a %s pin has no source tree", p.Track.Kind))
	}
	if p.State() != pins.Verified || p.Lock.Sum == "" {
		return nil, none, wrap(p, verdict.Skippedf("it is %s: run 'dist pins update %s'", p.State(), p.Name))
	}
	s, err := e.locked(ctx, p)
	if err != nil {
		return nil, none, wrap(p, err)
	}
	tree, err := declared.OpenGit(ctx, s.parts[0].repo, git.ID(p.Lock.Commit))
	if err != nil {
		return nil, none, wrap(p, err)
	}
	defer tree.Close()
	list, err := declared.Detect(tree)
	if err != nil {
		return nil, none, wrap(p, err)
	}
	return list, declared.Match(list, p.Lock.Inputs, p.Lock.Submodules), nil
}
