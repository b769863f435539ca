// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
)

// change lets the upstream of the pin with a stack move, so that there is
// something of everything to do.
func change(t *testing.T, w *World) { w.must(t, "greet", Files{"greeting.go": greetNobody}) }

func TestTwiceTheSameNightIsOneProposal(t *testing.T) {
	t.Parallel()
	w := small(t)
	change(t, w)
	w.mustNight(t, []string{"greet: pass, wait"}, only("greet"))
	first := w.standing(t, "greet")
	if !strings.Contains(first, "refs/heads/bump/greet") || !strings.Contains(first, "refs/pins/greet/") {
		t.Fatalf("there is no proposal, or nothing in the archive: %s", first)
	}
	for range 2 {
		w.Sleep(time.Hour)
		w.mustNight(t, []string{"greet: pass, wait"}, only("greet"))
		if again := w.standing(t, "greet"); again != first {
			t.Errorf("the second run made\n%s\nof\n%s", again, first)
		}
	}
	m := w.memory(t, "greet")
	if tried := m.Round(m.Proposal.RoundID); tried == nil || tried.Count != 1 {
		t.Errorf("the round was begun %+v, should be once", tried)
	}
}

func TestTwoAtOnceOneWorks(t *testing.T) {
	t.Parallel()
	w := small(t)
	change(t, w)
	pause := t.TempDir() + "/pause"
	cmd, _, errs := w.start(t, job{Groups: []string{"greet"}, PauseAt: nightly.Fetch, Pause: pause})
	until(t, cmd, pause+".reached")
	// Another clone, the same machine; then another machine with its own cache.
	r := w.mustNight(t, []string{"greet: held, newest known"}, only("greet"))
	if why := r.Groups[0].Why; !strings.Contains(why, "works on greet") {
		t.Errorf("it does not say that somebody else works on it: %s", why)
	}
	w.mustNight(t, []string{"greet: held, newest known"}, only("greet"), func(o *nightly.Options) {
		o.Cache.Dir = t.TempDir()
	})
	if got := refs(t, w.Main, "refs/heads/bump"); got != "" {
		t.Errorf("somebody proposed already: %s", got)
	}
	if err := os.WriteFile(pause+".go", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the first: %v\n%s", err, errs)
	}
	first := w.standing(t, "greet")
	if !strings.Contains(first, "refs/heads/bump/greet") {
		t.Errorf("the first one proposed nothing: %s", first)
	}
	w.mustNight(t, []string{"greet: pass, wait"}, only("greet"))
	if got := w.standing(t, "greet"); got != first {
		t.Errorf("then\n%s\nwas\n%s", got, first)
	}
}

// until waits for a file that a process makes.
func until(t *testing.T, cmd *exec.Cmd, path string) {
	t.Helper()
	for range 6000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if cmd.ProcessState != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not come", path)
}

// A night that knows nothing counts first sights anew: a bump is late, never
// wrong.
func TestStateLost(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "fresh", Files{"fresh.go": "package fresh\n\nconst Days = 2\n"})
	const empty = "nothing is remembered"
	r := w.mustNight(t, []string{"fresh: held, cooldown"}, only("fresh"))
	if n := strings.Count(strings.Join(r.Notes, "\n"), empty); n != 1 {
		t.Errorf("it says %d times that the state branch was never there, should be once: %q", n, r.Notes)
	}
	w.Sleep(24 * time.Hour)
	if _, err := w.Main.Output(t.Context(), "update-ref", "-d", "refs/heads/nightly-state"); err != nil {
		t.Fatal(err)
	}
	r = w.mustNight(t, []string{"fresh: held, cooldown"}, only("fresh"))
	if len(r.Notes) == 0 {
		t.Error("nobody says that the state branch is gone")
	}
	w.Sleep(24 * time.Hour)
	r = w.mustNight(t, []string{"fresh: pass, wait"}, only("fresh"))
	if text := strings.Join(r.Notes, "\n"); strings.Contains(text, empty) {
		t.Errorf("it is said of a branch that is there: %q", r.Notes)
	}
	// And what is proposed is not proposed a second time by who forgot it.
	before := refs(t, w.Main, "refs/heads/bump")
	if _, err := w.Main.Output(t.Context(), "update-ref", "-d", "refs/heads/nightly-state"); err != nil {
		t.Fatal(err)
	}
	w.mustNight(t, []string{"fresh: held, cooldown"}, only("fresh"))
	if after := refs(t, w.Main, "refs/heads/bump"); after != before {
		t.Errorf("the proposal went from %s to %s", before, after)
	}
}

func TestStateOutOfReach(t *testing.T) {
	t.Parallel()
	w := small(t)
	change(t, w)
	before := refs(t, w.Main, "refs") + refs(t, w.Archive, "refs")
	address, err := closedPort()
	if err != nil {
		t.Fatal(err)
	}
	gone := func(o *nightly.Options) { o.State = address + "/main.git" }
	_, err = w.night(t, only("greet"), gone)
	if verdict.Of(err) != verdict.Infra || verdict.ExitCode(err) != 5 {
		t.Errorf("a live run without its state: %v, want infra", err)
	}
	r := w.mustNight(t, []string{"greet: pass, wait"}, only("greet"), gone, dryRun)
	if !strings.Contains(strings.Join(r.Notes, "\n"), "state unknown") {
		t.Errorf("a dry run does not say that the state is unknown: %q", r.Notes)
	}
	if after := refs(t, w.Main, "refs") + refs(t, w.Archive, "refs"); after != before {
		t.Errorf("something was pushed: %s", after)
	}
}

func TestStateNotPushable(t *testing.T) {
	t.Parallel()
	w := small(t)
	change(t, w)
	w.refuse(t, w.Main, "refs/heads/nightly-state")
	before := refs(t, w.Main, "refs") + refs(t, w.Archive, "refs")
	walked := 0
	_, err := w.night(t, only("greet"), func(o *nightly.Options) {
		o.After = func(string, nightly.Transition) { walked++ }
	})
	if verdict.ExitCode(err) != verdict.ExitUsage || walked > 0 {
		t.Errorf("a state branch that cannot be pushed: %v after %d transitions, want a usage error before any work", err, walked)
	}
	if after := refs(t, w.Main, "refs") + refs(t, w.Archive, "refs"); after != before {
		t.Errorf("something was pushed: %s", after)
	}
}

// refuse makes a repository refuse pushes to some refs.
func (w *World) refuse(t *testing.T, r *Repository, below string) {
	t.Helper()
	if _, err := r.Output(t.Context(), "config", "receive.hideRefs", below); err != nil {
		t.Fatal(err)
	}
}

// A dry run remembers for itself, and no live run reads that.
func TestDryRunTouchesNothingAndIsNotRead(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "fresh", Files{"fresh.go": "package fresh\n\nconst Days = 2\n"})
	before := refs(t, w.Main, "refs") + refs(t, w.Archive, "refs")
	w.mustNight(t, []string{"fresh: held, cooldown"}, only("fresh"), dryRun)
	w.Sleep(24 * time.Hour)
	w.mustNight(t, []string{"fresh: pass, wait"}, only("fresh"), dryRun)
	if after := refs(t, w.Main, "refs") + refs(t, w.Archive, "refs"); after != before {
		t.Errorf("a dry run pushed something: %s", after)
	}
	if id, err := w.Main.RevParse(t.Context(), "refs/heads/nightly-state"); err == nil {
		t.Errorf("a dry run made the state branch at %s", id)
	}
	w.mustNight(t, []string{"fresh: held, cooldown"}, only("fresh"))
}

func TestArchiveHasFourAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, w *World)
		want    string
		gate    verdict.Verdict // none: the night ended before
		draft   bool
		says    string
	}{
		{"kept", func(*testing.T, *World) {}, "greet: pass, wait", verdict.Pass, false, ""},
		{"none configured", func(t *testing.T, w *World) {
			if _, err := w.Main.Commit(t.Context(), "main", "No archive", Files{"ci/archive.yaml": ""}); err != nil {
				t.Fatal(err)
			}
		}, "greet: pass, wait", verdict.Skipped, true, "no archive configured"},
		{"refused", func(t *testing.T, w *World) { w.refuse(t, w.Archive, "refs/pins") }, "greet: fail, archive", "", false, "refs/pins"},
		{"out of reach", func(t *testing.T, w *World) {
			address, err := closedPort()
			if err != nil {
				t.Fatal(err)
			}
			mirrors := fmt.Sprintf("allow-http: true\nurls:\n  %s: upstreams/\n  %s: %s/archive.git\n", Host, ArchiveURL, address)
			if err := os.WriteFile(w.path("mirrors.yaml"), []byte(mirrors), 0o666); err != nil {
				t.Fatal(err)
			}
		}, "greet: infra, archive", "", false, "cannot be reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			change(t, w)
			c.prepare(t, w)
			main, err := w.Main.RevParse(t.Context(), "refs/heads/main")
			if err != nil {
				t.Fatal(err)
			}
			g := w.mustNight(t, []string{c.want}, only("greet")).Groups[0]
			var got verdict.Verdict
			for _, x := range g.Gates {
				if x.Name == "archive" {
					got = x.Verdict
				}
			}
			if got != c.gate {
				t.Errorf("the gate says %q, want %q", got, c.gate)
			}
			draft := strings.Join(g.Draft, "\n")
			if strings.Contains(draft, "archive") != c.draft {
				t.Errorf("a draft because of %q", g.Draft)
			}
			if !strings.Contains(g.Why+draft, c.says) {
				t.Errorf("neither reason nor draft says %q: %s; %s", c.says, g.Why, draft)
			}
			if proposed := refs(t, w.Main, "refs/heads/bump") != ""; proposed != (g.Verdict == verdict.Pass) {
				t.Errorf("proposed: %t with verdict %s", proposed, g.Verdict)
			}
			if now, err := w.Main.RevParse(t.Context(), "refs/heads/main"); err != nil || now != main {
				t.Errorf("main went to %s (%v)", now, err)
			}
		})
	}
}
