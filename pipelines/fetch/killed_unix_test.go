// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package fetch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// childWorld is the environment variable that makes this test binary a process
// that updates a pin: the folder of the world.
const childWorld = "FETCH_TEST_CHILD_WORLD"

// TestUpdateInAChild is what the processes of the tests below run.
func TestUpdateInAChild(t *testing.T) {
	dir := os.Getenv(childWorld)
	if dir == "" {
		t.Skip("only a part of other tests")
	}
	s, err := store.Open(dir + "/cache/store")
	if err != nil {
		t.Fatal(err)
	}
	set, err := pins.Load(dir + "/pins")
	if err != nil {
		t.Fatal(err)
	}
	m, err := LoadMirrors(dir + "/mirrors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Set: set, Mirrors: m, Store: s, CacheDir: dir + "/cache"}
	rows, err := e.Update(t.Context(), []*pins.Pin{set.Pin("x")}, UpdateOptions{PinsDir: dir + "/pins"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Verdict != verdict.Pass {
			t.Errorf("%s: %s", r.Verdict, r.Why)
		}
	}
}

// childrens makes a world that processes can share.
func childrens(t *testing.T) (*world, func() *exec.Cmd) {
	t.Helper()
	sub := gittest.New(t)
	files := gittest.Files{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = strings.Repeat(fmt.Sprintln(i), 400)
	}
	s := sub.Commit("main", "sub", files)
	up := gittest.New(t)
	files[".gitmodules"] = "[submodule \"s\"]\n\tpath = s\n\turl = ../sub.git\n"
	up.Commit("main", "one", files, gittest.Submodule("s", s))
	w := newWorld(t)
	a, b := w.serve("x", up, gittest.ServerOptions{}), w.serve("sub", sub, gittest.ServerOptions{})
	w.pin("x", followMain)
	dir := filepath.Dir(w.pins)
	text := fmt.Sprintf("allow-http: true\nurls:\n  https://up.example/x.git: %s/repo.git\n  https://up.example/sub.git: %s/repo.git\n", a.URL, b.URL)
	if err := os.WriteFile(dir+"/mirrors.yaml", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return w, func() *exec.Cmd {
		c := exec.Command(exe, "-test.run=^TestUpdateInAChild$", "-test.v")
		c.Env = append(os.Environ(), childWorld+"="+dir)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return c
	}
}

func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	w, child := childrens(t)
	pin := func() string {
		data, err := os.ReadFile(w.pins + "/x.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := pin()
	killed := 0
	for i := range 9 {
		c := child()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+i*60) * time.Millisecond)
		c.Process.Kill()
		if c.Wait() != nil && strings.Contains(c.ProcessState.String(), "killed") {
			killed++
		}
		if now := pin(); now != before {
			if p := w.get("x"); p.State() != pins.Verified {
				t.Fatalf("half a lock:\n%s", now)
			}
			break
		}
	}
	if killed == 0 {
		t.Error("no process was killed: the test shows nothing")
	}
	if out, err := child().CombinedOutput(); err != nil {
		t.Fatalf("the next run does not finish: %v\n%s", err, out)
	}
	p := w.get("x")
	if p.State() != pins.Verified {
		t.Fatalf("state %s", p.State())
	}
	rows, err := w.e.Verify(t.Context(), []*pins.Pin{p}, VerifyOptions{PinsDir: w.pins})
	if err != nil || rows[0].Verdict != verdict.Pass {
		t.Errorf("%+v %v", rows, err)
	}
	// What the killed ones left is swept by whoever works next.
	_, done, err := w.e.Store.Workspace()
	if err != nil {
		t.Fatal(err)
	}
	done()
	w.snapshot()
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w, child := childrens(t)
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			if out, err := child().CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wait.Wait()
	if p := w.get("x"); p.State() != pins.Verified {
		t.Errorf("state %s", p.State())
	}
	if entries, _ := w.e.Store.List(); len(entries) != 1 {
		t.Errorf("%d entries", len(entries))
	}
	w.snapshot()
}
