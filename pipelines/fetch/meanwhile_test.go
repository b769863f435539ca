// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// An update that began before another one, or before a person's edit, never
// writes over it: neither an older version nor a rejected one.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, up *gittest.Repo){
		"by a faster update": func(w *world, up *gittest.Repo) {
			two := git.ID(up.Git("rev-parse", "main"))
			up.Commit("main", "three", gittest.Files{"a": "three"})
			w.must("x")
			up.Move("main", two) // what the slow one saw
		},
		"by a rejection": func(w *world, up *gittest.Repo) {
			if _, err := pins.Edit(w.pins, "x", func(f []byte) ([]byte, error) {
				return pins.AddReject(f, pins.Reject{ID: up.Git("rev-parse", "main"), Why: "bad"})
			}); err != nil {
				w.t.Fatal(err)
			}
		},
		"by an editor": func(w *world, _ *gittest.Repo) {
			text, _ := os.ReadFile(w.pins + "/x.yaml")
			w.write("x.yaml", strings.Replace(string(text), "branch: main", "branch: other", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, other := gittest.New(t), gittest.New(t)
			up.Commit("main", "one", gittest.Files{"a": "one"})
			other.Commit("main", "one", gittest.Files{"a": "one"})
			w := newWorld(t)
			w.local("x", up)
			w.local("y", other)
			w.pin("x", followMain)
			w.pin("y", followMain)
			w.write("groups.yaml", "- {name: g, members: [x, y], every: day}\n")
			w.must("x")
			up.Commit("main", "two", gittest.Files{"a": "two"})
			other.Commit("main", "two", gittest.Files{"a": "two"})
			late := w.load() // what an update that began now has read
			change(w, up)
			before := pinFiles(w)
			w.e.Set = late
			rows, err := w.e.Update(t.Context(), []*pins.Pin{late.Pin("x")}, UpdateOptions{PinsDir: w.pins})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				w.wants(r.Verdict, r.Why, verdict.Infra, "changed by somebody else meanwhile")
			}
			if after := pinFiles(w); after != before {
				t.Errorf("pins changed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func pinFiles(w *world) string {
	x, _ := os.ReadFile(w.pins + "/x.yaml")
	y, _ := os.ReadFile(w.pins + "/y.yaml")
	return string(x) + string(y)
}
