// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// RoundDigest is what the resolving phase writes down of a round, in a place
// that the gates cannot reach: the sha256 of the bytes of round.json.
func RoundDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

var (
	groupName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	roundID   = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// checkRound holds a round against the pins of the main that it stands on.
func checkRound(r *round.Round, base *pins.Set) error {
	switch {
	case r.Schema != round.Schema:
		return verdict.Failf("the round has the schema %d, this program knows %d: use the same version for all phases", r.Schema, round.Schema)
	case !groupName.MatchString(r.Group):
		return verdict.Failf("%s is no name of a group", inert.Quote(r.Group, 80))
	case !roundID.MatchString(r.ID) || r.ID != r.Identify():
		return verdict.Failf("the round's id is %s, what is in it makes %s", inert.Quote(r.ID, 40), r.Identify())
	case r.At.IsZero() || r.At.Unix() < 0:
		return verdict.Failf("round %s says no time", r.ID)
	case len(r.Moves()) == 0:
		return verdict.Failf("nothing moves in round %s", r.ID)
	}
	if _, err := git.ParseID(string(r.Base)); err != nil {
		return verdict.Failf("the base of round %s: %w", r.ID, err)
	}
	if g := base.Group(r.Group); r.Mixed && (g == nil || g.Split != pins.SplitAllowed) {
		return verdict.Heldf("only half of group %s would move, which its entry in pins/groups.yaml does not allow", r.Group)
	}
	members := map[string]bool{r.Group: true}
	if g := base.Group(r.Group); g != nil {
		members = map[string]bool{}
		for _, name := range g.Members {
			members[name] = true
		}
	}
	seen := map[string]bool{}
	for _, m := range r.Members {
		p := base.Pin(m.Pin)
		switch {
		case p == nil || !members[m.Pin]:
			return verdict.Failf("%s is no pin of group %s", inert.Quote(m.Pin, 80), r.Group)
		case seen[m.Pin]:
			return verdict.Failf("pin %s is in round %s twice", m.Pin, r.ID)
		case m.Stack != p.Stack || m.Stack != "" && patches.CheckName(m.Stack) != nil:
			return verdict.Failf("pin %s: its stack is %q, not %s", m.Pin, p.Stack, inert.Quote(m.Stack, 80))
		case p.Lock.ID() != m.From.ID:
			return verdict.Heldf("pin %s is at %s on main, the round is from %s: it has to be resolved again", m.Pin, shortID(p.Lock.ID()), shortID(m.From.ID))
		case !m.Moves():
		case m.Lock == nil:
			return verdict.Failf("pin %s: the round has no lock of %s", m.Pin, shortID(m.To.ID))
		case m.Lock.ID() != m.To.ID:
			return verdict.Failf("pin %s: its lock in the round is %s, not %s", m.Pin, shortID(m.Lock.ID()), shortID(m.To.ID))
		}
		seen[m.Pin] = true
	}
	return nil
}
