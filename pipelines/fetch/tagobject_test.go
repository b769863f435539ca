// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"slices"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// A pin with keys has the object of its tag here, others do without.
func TestTagObjectIsKept(t *testing.T) {
	const keys = "keys: [{who: somebody, openpgp: ci/trust/x.asc}]\n"
	for _, c := range []struct {
		name, rest string
		kept       bool
	}{
		{"without keys", followTags, false},
		{"with keys", followTags + keys, true},
		{"with keys and a stack", followTags + keys + "stack: a\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			up := gittest.New(t)
			up.Commit("main", "zero", gittest.Files{"a": "0"})
			tag := up.Annotated("b1", "one", up.Commit("main", "one", gittest.Files{"a": "1"}))
			w.serve("a", up, gittest.ServerOptions{})
			w.pin("a", c.rest)
			if l := w.must("a"); l.Tag != string(tag) {
				t.Fatalf("the lock has the tag %s, want %s", l.Tag, tag)
			}
			r, err := w.e.Repository(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			missing, err := r.Missing(t.Context(), []git.ID{tag})
			if err != nil || slices.Contains(missing, tag) == c.kept {
				t.Errorf("missing %v, %v", missing, err)
			}
			up.Annotated("b2", "two", up.Commit("main", "two", gittest.Files{"a": "2"}))
			if l := w.must("a"); l.Version != "b2" {
				t.Errorf("the next one: %+v", l)
			}
		})
	}
}
