// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// MoveNotice returns the NOTICE that WriteNotice would make after pins moved
// from before to after, given the one from before. It is for a bump, which
// changes nothing but versions: it needs neither go nor the module cache, so
// that who proposes a bump and who verifies the proposal make the same bytes.
//
// The error is that notice is not what before makes it, or that more than the
// versions of pins differs.
func MoveNotice(notice []byte, before, after *pins.Set) ([]byte, error) {
	old, fresh := Pinned(before), Pinned(after)
	if len(old) != len(fresh) {
		return nil, fmt.Errorf("NOTICE: there are %d pins and then %d: only 'dist notice write' can follow that", len(old), len(fresh))
	}
	type line struct {
		name, from, to string
		least          int // how often it must be there
	}
	var moves []line
	for i, o := range old {
		n := fresh[i]
		from, to := o.Version, n.Version
		o.Version, n.Version = "", ""
		if fmt.Sprintf("%q", o) != fmt.Sprintf("%q", n) {
			return nil, fmt.Errorf("NOTICE: more than the version of pin %s changes: only 'dist notice write' can follow that", o.Name)
		}
		if from == to {
			continue
		}
		heading := func(name, version string) string { return "\n\n" + strings.TrimSpace(name+" "+version) + "\n  " }
		moves = append(moves, line{o.Name, heading(o.Name, from), heading(o.Name, to), 1})
		if o.Name != toolchainPin {
			continue
		}
		// What the toolchain adds to every program has its version.
		text := func(version string) string {
			return "\n" + strings.TrimSpace(goRuntime.Name+" "+version) + ": LICENSE\n"
		}
		moves = append(moves, line{o.Name, heading(goRuntime.Name, from), heading(goRuntime.Name, to), 1},
			line{o.Name, text(from), text(to), 0})
	}
	for _, m := range moves {
		switch n := bytes.Count(notice, []byte(m.from)); {
		case n == 1:
			notice = bytes.Replace(notice, []byte(m.from), []byte(m.to), 1)
		case n > 1 || n < m.least:
			return nil, verdict.Failf("NOTICE names pin %s as %s %d times, not once: run 'dist notice write' on main first",
				m.name, inert.Quote(strings.TrimSpace(m.from), 120), n)
		}
	}
	return notice, nil
}
