// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Probe shows that this run may add to the branch, before any work is done that
// could not be written down. It pushes a commit that says that the night began
// and changes nothing, since only a real push is judged by all that can refuse
// one: the host, its rules for branches, its hooks. Where there is no branch
// yet, it makes it.
//
// It is a usage error when pushing is not allowed. A dry run has nothing to
// show.
func (l *Ledger) Probe(ctx context.Context, night string) error {
	if !nightRE.MatchString(night) {
		return fmt.Errorf("%s is no id of a night", quote(night))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.o.Mode {
	case round.Stopped:
		return verdict.Heldf("the nightly job is stopped: nothing is begun")
	case round.DryRun:
		return nil
	}
	return l.push(ctx, "begin "+night+"\n", func(*stage) error { return nil })
}
