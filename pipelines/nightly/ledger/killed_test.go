// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ledger

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// childWorld holds clone, address and cache of a run in a process of its own.
const childWorld = "LEDGER_TEST_CHILD"

// night is a night for one group, as the nightly job does it: what is remembered
// is looked at before each step.
func night(t *testing.T, o Options, id string) error {
	l, err := Open(t.Context(), o)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.Claim(t.Context(), zinc, id); err != nil {
		return err
	}
	m, err := l.Memory(t.Context(), zinc)
	if err != nil {
		return err
	}
	if m.Last() == nil {
		if err := l.Append(t.Context(), sight("1", "2")); err != nil {
			return err
		}
	}
	if m.Proposal == nil {
		b := began(1)
		b.Night, b.Try = id, m.Tries(roundID(1))+1
		p := proposed(1, commit1)
		p.Night = id
		if err := l.Append(t.Context(), b); err != nil {
			return err
		}
		if err := l.Append(t.Context(), p); err != nil {
			return err
		}
	}
	return l.Append(t.Context(), ended(id, verdict.Pass))
}

func TestNightInAChild(t *testing.T) {
	at := strings.Split(os.Getenv(childWorld), "|")
	if len(at) != 4 {
		t.Skip("only for the tests that kill it")
	}
	repo, err := git.Open(t.Context(), at[0])
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Repo: repo, Remote: git.Remote{URL: at[1], Allow: []string{"http"}}, CacheDir: at[2], Mode: round.Live, Clock: clock.Fixed(day(1))}
	if err := night(t, o, at[3]); err != nil {
		t.Fatal(err)
	}
}

// Killed in the middle of each of its pushes, which the remote then takes or
// does not: the next run ends in the same state, and nobody has to wait for the
// claim of the dead.
func TestKilledAtEachPush(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The steps of a night: claim, sighting, try, proposal, end.
	for step := range 5 {
		for _, taken := range []bool{true, false} {
			t.Run(fmt.Sprintf("step %d, taken %v", step, taken), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				s := gittest.Serve(t, filepath.Dir(w.remote.Dir()), gittest.ServerOptions{Password: "x"})
				at := strings.Replace(s.URL, "http://", "http://user:x@", 1) + "/repo.git"
				o := w.options(day(1))
				o.Remote = git.Remote{URL: at, Allow: []string{"http"}}

				// The hook counts the pushes, and stops in the one that is meant.
				hooks := filepath.Join(w.remote.Dir(), "hooks")
				if err := os.MkdirAll(hooks, 0o777); err != nil {
					t.Fatal(err)
				}
				status := map[bool]int{true: 0, false: 1}[taken]
				script := fmt.Sprintf("#!/bin/sh\ncd %q\necho >>count\nif [ $(wc -l <count) = %d ]; then\n  : >reached\n  i=0\n  while [ ! -e go ] && [ $i -lt 300 ]; do sleep 0.05; i=$((i+1)); done\n  exec 1>&- 2>&-\n  : >over\n  exit %d\nfi\nexit 0\n", hooks, step+1, status)
				if err := os.WriteFile(filepath.Join(hooks, "pre-receive"), []byte(script), 0o777); err != nil {
					t.Fatal(err)
				}
				c := exec.Command(exe, "-test.run=^TestNightInAChild$")
				c.Env = append(os.Environ(), childWorld+"="+strings.Join([]string{o.Repo.Dir(), at, o.CacheDir, "killed"}, "|"))
				c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				appears(t, filepath.Join(hooks, "reached"))
				before := w.remote.Git("for-each-ref", "refs/heads/"+Branch)
				c.Process.Kill()
				if err := c.Wait(); err == nil || !strings.Contains(c.ProcessState.String(), "killed") {
					t.Fatalf("it was not killed: %v", err)
				}
				if err := os.WriteFile(filepath.Join(hooks, "go"), nil, 0o666); err != nil {
					t.Fatal(err)
				}
				appears(t, filepath.Join(hooks, "over"))
				if taken {
					moved(t, w, before)
				}
				if err := night(t, o, "next"); err != nil {
					t.Fatal(err)
				}
				l := open(t, o)
				m := w.memory(l, zinc)
				last := m.LastEnded()
				if m.Claim != nil || m.Proposal == nil || last == nil || last.ID != "next" || len(m.Sightings) != 1 || len(l.Notes()) != 0 {
					t.Errorf("%+v, notes %q", m, l.Notes())
				}
				tries := 1
				if taken && step == 2 || step == 3 && !taken {
					tries = 2 // the killed one counts
				}
				if got := m.Round(roundID(1)).Count; got != tries {
					t.Errorf("%d tries, want %d", got, tries)
				}
				w.remote.Git("fsck", "--strict", "--no-dangling")
			})
		}
	}
}

// Git's own lock on the clone's ref is left when git is killed while it moves
// it; nobody should have to look for it.
func TestLockLeftByKilledGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(1))
	w.add(open(t, o), sight("1", "2"))
	lock := filepath.Join(o.Repo.Dir(), filepath.FromSlash(LocalRef)+".lock")
	leave := func() {
		if err := os.WriteFile(lock, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	w.add(open(t, w.options(day(1))), sight("1", "3")) // so that the ref must move
	l := open(t, o)
	if m := w.memory(l, zinc); m.Events != 2 {
		t.Errorf("%+v", m)
	}
	leave()
	w.add(l, sight("1", "4"))
	if _, err := os.Stat(lock); err == nil || len(l.Notes()) != 0 {
		t.Errorf("the lock is still there: %q", l.Notes())
	}
}

// appears waits for a file that another process makes.
func appears(t *testing.T, file string) {
	t.Helper()
	for range 1500 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not appear", file)
}

// moved waits until the remote's branch is elsewhere.
func moved(t *testing.T, w *world, before string) {
	t.Helper()
	for range 500 {
		if w.remote.Git("for-each-ref", "refs/heads/"+Branch) != before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the push that was under way did not arrive: the test shows nothing")
}
