// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// editedOnto makes the work tree for the stack of a scene on upstream's tip.
func (e *engine) editedOnto(s *scene) *Applied {
	e.t.Helper()
	x := e.session(false)
	r, err := x.Rebase(e.t.Context(), s.tip())
	if err != nil {
		e.t.Fatal(err)
	}
	a, err := x.EditOnto(e.t.Context(), r, "main", filepath.Join(e.t.TempDir(), "work"))
	if err != nil {
		e.t.Fatal(err)
	}
	return a
}

// takeBack is RefreshOnto of a work tree.
func (e *engine) takeBack(s *scene, dir string, drop int, lock *pins.Lock) (*Imported, []*Resolution, error) {
	e.t.Helper()
	x := e.session(true)
	defer x.r.Close()
	return x.RefreshOnto(e.t.Context(), RefreshOptions{From: From{Where: dir}, Drop: drop, Source: e.source}, s.tip(), func(context.Context) (*pins.Lock, error) {
		if lock == nil {
			return nil, errors.New("no lock can be made")
		}
		return lock, nil
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// The first patch conflicts, upstream took the second, the third is fine.
func TestEditOntoAndRefresh(t *testing.T) {
	t.Parallel()
	text := rows(60, "line %d.")
	settled := replaced(text, "line 10.", "both 10.", "line 30.", "their 30.")
	for name, x := range map[string]struct {
		work func(t *testing.T, dir string)
		drop int
		want []string
		note string
	}{
		"settled": {
			work: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "f"), settled)
				person(t, dir, "add", "f")
				person(t, dir, "rebase", "--continue")
			},
			want: []string{"ten.patch", "fifty.patch"},
		},
		"settled, and more": {
			work: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "f"), settled)
				person(t, dir, "add", "f")
				person(t, dir, "rebase", "--continue")
				write(t, filepath.Join(dir, "h"), "more\n")
				person(t, dir, "commit", "-qam", "More"+status)
			},
			want: []string{"ten.patch", "fifty.patch", "more.patch"},
			note: "more than settled conflicts",
		},
		"let go": {
			work: func(t *testing.T, dir string) { person(t, dir, "rebase", "--skip") },
			drop: 1,
			want: []string{"fifty.patch"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := stackScene(t, "their 10.")
			a := e.editedOnto(s)
			if a.Onto != s.tip() || !slices.Equal(a.Conflicts, []string{"f"}) {
				t.Fatalf("got %+v", a)
			}
			if rev, err := OntoOf(t.Context(), a.Dir); rev != "main" || err != nil {
				t.Errorf("onto %q, %v", rev, err)
			}
			data, err := os.ReadFile(filepath.Join(a.Dir, "f"))
			if err != nil || !strings.Contains(string(data), "our 10.") || !strings.Contains(string(data), "their 10.") || !strings.Contains(string(data), "line 10.") {
				t.Errorf("the three sides are not there: %v\n%s", err, data)
			}
			before := e.state()
			if _, _, err := e.takeBack(s, a.Dir, 0, newLock(t, s)); verdict.ExitCode(err) != 2 || !strings.Contains(err.Error(), "in the middle of something") {
				t.Errorf("half way: %v", err)
			}
			x.work(t, a.Dir)
			if x.drop > 0 {
				if _, _, err := e.takeBack(s, a.Dir, 0, newLock(t, s)); verdict.ExitCode(err) != 2 || !strings.Contains(err.Error(), "say --allow-drop 1") {
					t.Errorf("dropped silently: %v", err)
				}
			}
			if _, _, err := e.takeBack(s, a.Dir, x.drop, nil); err == nil {
				t.Error("there was no lock, and it was taken")
			}
			if !sameState(before, e.state()) {
				t.Fatal("something was written")
			}
			im, learnt, err := e.takeBack(s, a.Dir, x.drop, newLock(t, s))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(im.Files, x.want) || !im.Locked || (len(learnt) == 1) != (x.drop == 0) {
				t.Errorf("got %+v, %+v", im, learnt)
			}
			if notes := strings.Join(im.Notes, "\n"); (x.note != "") != (notes != "") || !strings.Contains(notes, x.note) {
				t.Errorf("notes: %s", notes)
			}
			if c := e.check(); c.Verdict != verdict.Pass {
				t.Errorf("%s: %s", c.Verdict, c.Why)
			}
			if tree := person(t, a.Dir, "rev-parse", "HEAD^{tree}"); !strings.Contains(e.get("pins/demo.yaml"), tree) {
				t.Error("the lock has not the person's tree")
			}
			for _, r := range learnt {
				e.get("patches/demo/resolutions/" + r.Key() + ".yaml")
			}
			if _, _, err := e.takeBack(s, a.Dir, x.drop, newLock(t, s)); err == nil {
				t.Error("taken twice")
			}
		})
	}
}

// Without a conflict the work tree is the result; what upstream's attributes
// say about merging does not count with one.
func TestEditOntoWithoutHelpFromAttributes(t *testing.T) {
	t.Parallel()
	e, s := stackScene(t, "line 10.")
	a := e.editedOnto(s)
	if len(a.Conflicts) > 0 || person(t, a.Dir, "status", "--porcelain") != "" || person(t, a.Dir, "rev-list", "--count", "refs/dist/onto..HEAD") != "2" {
		t.Errorf("got %+v", a)
	}
	if _, _, err := e.takeBack(s, a.Dir, 0, newLock(t, s)); err != nil {
		t.Error(err)
	}
	e, s = stackScene(t, "their 10.")
	s.upstream("Attributes", gittest.Files{".gitattributes": "* merge=union filter=x text eol=crlf\n"})
	if a := e.editedOnto(s); !slices.Equal(a.Conflicts, []string{"f"}) {
		t.Errorf("got %+v", a)
	}
}

// Upstream's branch moved, or the stack did, while a person worked.
func TestRefreshOntoSomethingElse(t *testing.T) {
	t.Parallel()
	e, s := stackScene(t, "line 10.")
	a := e.editedOnto(s)
	s.upstream("Later", gittest.Files{"g": "later\n"})
	if _, _, err := e.takeBack(s, a.Dir, 0, newLock(t, s)); verdict.ExitCode(err) != 2 || !strings.Contains(err.Error(), "was made for") {
		t.Errorf("got %v", err)
	}
}
