// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A run that is killed anywhere leaves, after the next command at the latest,
// everything as it was or everything as it should become.
func TestKilledSave(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	up.Move("part", git.ID(up.Git("rev-parse", "ours~1")))
	record := "patches/demo/resolutions/" + (&Resolution{Path: "f"}).Key() + ".yaml"
	for _, there := range []bool{false, true} {
		for step, wantNew := range map[string]bool{"written": false, "journal": false, "swapped": false, "locked": true} {
			if !there && (step == "written" || step == "locked") {
				continue // the same as with a stack that is there
			}
			t.Run(step, func(t *testing.T) {
				t.Parallel()
				e := newEngine(t, up, base)
				if there {
					e.imports("part")
					e.put("patches/demo/policy.yaml", "# kept\n")
					e.put(record, "path: f\npatch: kept too\n")
				}
				before := e.state()
				act := func(crash func(string) error) error {
					r := e.open()
					defer r.Close()
					r.crash = crash
					if there {
						_, err := r.Refresh(t.Context(), "demo", RefreshOptions{From: From{Where: up.Dir(), Branch: "ours"}})
						return err
					}
					_, err := r.Import(t.Context(), "demo", From{Where: up.Dir(), Branch: "ours"})
					return err
				}
				err := act(func(s string) error {
					if s == step {
						return errCrash
					}
					return nil
				})
				if !errors.Is(err, errCrash) {
					t.Fatalf("it was not killed: %v", err)
				}
				// Any command settles it.
				r := e.open()
				r.Close()
				after := e.state()
				if got := !maps.Equal(before, after); got != wantNew {
					t.Fatalf("changed: %v, want %v:\n%s", got, wantNew, names(after))
				}
				if wantNew && (!strings.Contains(after["pins/demo.yaml"], "third-change") || !strings.Contains(after["patches/demo/series"], "third-change")) {
					t.Errorf("half of it:\n%s", after["pins/demo.yaml"])
				}
				if !wantNew {
					if err := act(nil); err != nil {
						t.Fatal(err)
					}
				}
				if c := e.check(); c.Verdict != verdict.Pass {
					t.Errorf("%s: %s", c.Verdict, c.Why)
				}
				if there && (e.get("patches/demo/policy.yaml") != "# kept\n" || e.get(record) != "path: f\npatch: kept too\n") {
					t.Error("what stands beside the patches is gone")
				}
				if strings.Contains(names(e.state()), "patches/.demo") {
					t.Errorf("left over: %s", names(e.state()))
				}
			})
		}
	}
}

// Where the pin file was changed by somebody after a kill, nobody guesses.
func TestKilledSaveAndAnotherHand(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	r := e.open()
	r.crash = func(step string) error {
		if step == "swapped" {
			return errCrash
		}
		return nil
	}
	if _, err := r.Import(t.Context(), "demo", From{Where: up.Dir(), Branch: "ours"}); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	r.Close()
	e.put("pins/demo.yaml", e.get("pins/demo.yaml")+"# more\n")
	_, err := Open(t.Context(), e.root)
	wantError(t, err, verdict.Fail, "was interrupted", "pins/demo.yaml was changed since")
}

// A place that cannot be written is the machine's failure, said in a sentence,
// and changes nothing; whatever git or the system calls it.
func TestSaveWithoutRoom(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}:         "the disk of /repo is full",
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS}:           "/repo cannot be written",
		errors.New("git: exit status 128: fatal: No space left on device"): "the disk of /repo is full",
	} {
		if got := explainDisk(err, "/repo"); verdict.Of(got) != verdict.Infra || !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := errors.New("another"); explainDisk(err, "x") != err || explainDisk(nil, "x") != nil {
		t.Error("another error was changed")
	}
}
