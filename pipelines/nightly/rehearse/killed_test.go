// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
)

// A walked collects the transitions after which a night was killed.
type walked struct {
	mu   sync.Mutex
	seen map[nightly.Transition]bool
}

func (x *walked) add(t nightly.Transition) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seen == nil {
		x.seen = map[nightly.Transition]bool{}
	}
	x.seen[t] = true
}

// kill runs a night that is killed, as by the kernel, after so many transitions.
func (w *World) kill(t *testing.T, group string, after int) {
	t.Helper()
	cmd, _, errs := w.start(t, job{Groups: []string{group}, KillAfter: after})
	err := cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() || s.Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v\n%s", err, errs)
	}
}

// nothingLeft looks for what a killed run left and the next should have removed.
func (w *World) nothingLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(w.Cache + "/store/tmp")
	if err != nil || len(left) > 0 {
		t.Errorf("the store's tmp has %v (%v)", left, err)
	}
}

// notKilled are the transitions after which TestKilled ends no night, and why.
var notKilled = map[string]string{
	"gate: gates, mixed: rebase":                        "the round of the half is made by the gates alone; see TestHalfOfAPair",
	"resolve: fetch and verify, stop: fetch and verify": "as archive, stop: nothing was handed on",
	"gate: rebase, stop: rebase":                        "as gates, stop: the folder is what the next phase reads",
	"gate: commit, stop: commit":                        "nothing stops there",
}

// A night is killed after each of its transitions. The next run must end where
// one ends that nobody killed.
func TestKilledAfterEachTransition(t *testing.T) {
	t.Parallel()
	all := &walked{}
	t.Cleanup(func() {
		for _, x := range nightly.Transitions {
			if why := notKilled[x.String()]; all.seen[x] == (why != "") && !t.Failed() {
				t.Errorf("%s: killed there: %t; the list of what is left out says %q", x, all.seen[x], why)
			}
		}
	})
	w := small(t)
	change(t, w)
	var way []nightly.Transition
	w.mustNight(t, []string{"greet: pass, wait"}, only("greet"), func(o *nightly.Options) {
		o.After = func(_ string, x nightly.Transition) { way = append(way, x) }
	})
	want := w.standing(t, "greet")
	for i, x := range way {
		t.Run(fmt.Sprintf("%02d %s", i+1, x), func(t *testing.T) {
			t.Parallel()
			all.add(x)
			w := small(t)
			change(t, w)
			w.kill(t, "greet", i+1)
			w.mustNight(t, []string{"greet: pass, wait"}, only("greet"))
			if got := w.standing(t, "greet"); got != want {
				t.Errorf("after the kill the next run made\n%s\nshould be\n%s", got, want)
			}
			w.nothingLeft(t)
		})
	}
	// Every other way ends early. What leads there is on the long way too, so
	// that these are killed after their last transition alone.
	edit := func(t *testing.T, w *World, pin string, edit func([]byte) ([]byte, error)) {
		t.Helper()
		if err := w.EditPin(t.Context(), pin, "Edit "+pin, edit); err != nil {
			t.Fatal(err)
		}
	}
	proposed := func(t *testing.T, w *World) {
		w.must(t, "hello", Files{"main.go": helloMain("one")})
		w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
		w.Sleep(24 * time.Hour)
	}
	for _, c := range []struct {
		name, group, want string
		after             int // transitions
		prepare           func(t *testing.T, w *World)
	}{
		{"nothing new", "hello", "pass, done", 2, func(*testing.T, *World) {}},
		{"nothing new, before it is said", "hello", "pass, done", 1, func(*testing.T, *World) {}},
		{"history rewritten", "hello", "held, newest known", 1, func(t *testing.T, w *World) {
			r, err := w.Upstream(t.Context(), "hello")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Output(t.Context(), "update-ref", "-d", "refs/heads/main"); err != nil {
				t.Fatal(err)
			}
			w.must(t, "hello", Files{"main.go": helloMain("new history")})
		}},
		{"too young", "fresh", "held, cooldown", 2, func(t *testing.T, w *World) { w.must(t, "fresh", Files{"fresh.go": "package fresh // 2\n"}) }},
		{"once a week", "hello", "held, schedule", 3, func(t *testing.T, w *World) {
			edit(t, w, "hello", func(file []byte) ([]byte, error) {
				return []byte(strings.Replace(string(file), "branch: main}", "branch: main, every: week}", 1)), nil
			})
			w.must(t, "hello", Files{"main.go": helloMain("one")})
			w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
			if err := w.Merge(t.Context(), "bump/hello"); err != nil {
				t.Fatal(err)
			}
			w.Sleep(24 * time.Hour)
			w.must(t, "hello", Files{"main.go": helloMain("two")})
		}},
		{"held", "hello", "held, hold", 4, func(t *testing.T, w *World) {
			w.must(t, "hello", Files{"main.go": helloMain("one")})
			if err := w.Hold(t.Context(), "hello", "a test"); err != nil {
				t.Fatal(err)
			}
		}},
		{"rejected", "hello", "held, reject", 5, func(t *testing.T, w *World) {
			id := w.must(t, "hello", Files{"main.go": helloMain("one")})
			edit(t, w, "hello", func(file []byte) ([]byte, error) {
				return pins.AddReject(file, pins.Reject{ID: string(id), Why: "a test"})
			})
		}},
		{"tried often enough", "greet", "held, throttle", 6, func(t *testing.T, w *World) {
			policy, err := w.File(t.Context(), nightly.PolicyFile)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Main.Commit(t.Context(), "main", "Try once", Files{nightly.PolicyFile: strings.Replace(string(policy), "tries: 3", "tries: 1", 1)}); err != nil {
				t.Fatal(err)
			}
			w.must(t, "greet", Files{"ending.go": endingAsk})
			w.mustNight(t, []string{"greet: conflict, gates"}, only("greet"))
		}},
		{"not archived", "hello", "fail, archive", 8, func(t *testing.T, w *World) {
			w.must(t, "hello", Files{"main.go": helloMain("one")})
			w.refuse(t, w.Archive, "refs/pins")
		}},
		{"a conflict", "greet", "conflict, gates", 10, func(t *testing.T, w *World) { w.must(t, "greet", Files{"ending.go": endingAsk}) }},
		{"not pushed", "hello", "infra, propose", 12, func(t *testing.T, w *World) {
			w.must(t, "hello", Files{"main.go": helloMain("one")})
			w.refuse(t, w.Main, "refs/heads/bump")
		}},
		{"proposed already", "hello", "pass, wait", 7, proposed},
		{"proposed already, before it is said", "hello", "pass, wait", 6, proposed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			c.prepare(t, w)
			before := refs(t, w.Main, "refs/heads")
			w.kill(t, c.group, c.after)
			i := 0
			w.mustNight(t, []string{c.group + ": " + c.want}, only(c.group), func(o *nightly.Options) {
				o.After = func(_ string, x nightly.Transition) {
					if i++; i == c.after {
						all.add(x)
					}
				}
			})
			if now := refs(t, w.Main, "refs/heads"); now != before {
				t.Errorf("the branches are\n%s\nshould be\n%s", now, before)
			}
			if m := w.memory(t, c.group); m.Claim != nil {
				t.Errorf("a claim is left: %+v", m.Claim)
			}
			w.nothingLeft(t)
		})
	}
}
