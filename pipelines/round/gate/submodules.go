// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/pins"
)

// submoduled lists submodules that came, went or are somewhere else: their
// authors are not those that the pin names.
func submoduled() Gate {
	return Gate{
		Name: "submodules",
		What: "submodules that are new, gone, or at another address",
		Run: func(_ context.Context, s *Subject) Result {
			f := &findings{}
			for _, m := range s.moves() {
				submodules(f, m)
			}
			return f.result()
		},
	}
}

func submodules(f *findings, m moved) {
	before := map[string]pins.Submodule{}
	if l := m.baseLock(); l != nil {
		for _, x := range l.Submodules {
			before[x.Path] = x
		}
	}
	var fresh, gone, elsewhere, other int
	for _, x := range m.next.Lock.Submodules {
		was, had := before[x.Path]
		delete(before, x.Path)
		switch {
		case !had:
			fresh++
			f.detail("%s: new: %s from %s at %s", m.Pin, shown(x.Path), shown(x.URL), shown(x.Commit))
		case was.URL != x.URL:
			elsewhere++
			f.detail("%s: %s was from %s, is from %s now, at %s", m.Pin, shown(x.Path), shown(was.URL), shown(x.URL), shown(x.Commit))
		case was.Commit != x.Commit:
			other++
			f.detail("%s: %s goes from %s to %s", m.Pin, shown(x.Path), shown(was.Commit), shown(x.Commit))
		}
	}
	if l := m.baseLock(); l != nil {
		for _, x := range l.Submodules { // in their order
			if _, left := before[x.Path]; left {
				gone++
				f.detail("%s: gone: %s from %s", m.Pin, shown(x.Path), shown(x.URL))
			}
		}
	}
	if m.base == nil || m.base.Lock == nil {
		if fresh > 0 {
			f.look("pin %s comes with %s", m.Pin, count(fresh, "submodule"))
		}
		return
	}
	if fresh+gone+elsewhere > 0 {
		f.look("pin %s: of its submodules %d are new, %d gone, %d at another address (%d only at another commit)", m.Pin, fresh, gone, elsewhere, other)
	}
}

// count is "1 file" or "2 files".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
