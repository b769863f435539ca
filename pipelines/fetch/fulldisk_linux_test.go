// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// smallDisk is the environment variable that makes this test binary a process
// that mounts a small disk where its world's cache and output are: its size.
const smallDisk = "FETCH_TEST_SMALL_DISK"

// TestOnASmallDisk is what the processes of TestFullDisk run.
func TestOnASmallDisk(t *testing.T) {
	dir, size := os.Getenv(childWorld), os.Getenv(smallDisk)
	if size == "" {
		t.Skip("only a part of another test")
	}
	cache, to := dir+"/cache", dir+"/out"
	disk := cache
	if strings.HasPrefix(size, "out ") {
		disk, size = to, size[len("out "):]
	}
	if err := os.MkdirAll(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mount: %v", err)
	}
	s, err := store.Open(cache + "/store")
	if err != nil {
		t.Fatal(err)
	}
	m, err := LoadMirrors(dir + "/mirrors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, pins: dir + "/pins", e: &Engine{Mirrors: m, Store: s, CacheDir: cache}}
	if disk == to {
		w.must("x")
		_, err := w.e.Export(t.Context(), w.get("x"), to, false)
		w.wants(verdict.Of(err), err.Error(), verdict.Infra, "pin x", to, "is full", "another disk")
		return
	}
	r := w.refused("x", verdict.Infra, cache, "is full", "DIST_CACHE")
	if err := syscall.Mount("", cache, "", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	if r = w.update("x", UpdateOptions{}); r.Verdict != verdict.Pass {
		t.Errorf("with room again: %s: %s", r.Verdict, r.Why)
	}
	if p := w.get("x"); p.State() != pins.Verified {
		t.Errorf("state %s", p.State())
	}
	w.snapshot()
}

// A disk that is full stops the work with its name; with room again the same
// goes on. The disks are real, in a mount namespace of a process of its own.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	probe := exec.Command("true")
	probe.SysProcAttr = ownMounts()
	if err := probe.Run(); err != nil {
		t.Skipf("no mount namespace to be had here: %v", err)
	}
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": noise(400_000), "b": strings.Repeat("text\n", 400_000)})
	for name, size := range map[string]string{
		"while git writes":       "256k",
		"while the store writes": "1m",
		"while files go out":     "out 1m",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.pin("x", followMain)
			dir := filepath.Dir(w.pins)
			if err := os.WriteFile(dir+"/mirrors.yaml", []byte("urls:\n  https://up.example/x.git: "+up.Dir()+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(exe, "-test.run=^TestOnASmallDisk$", "-test.v")
			c.Env = append(os.Environ(), childWorld+"="+dir, smallDisk+"="+size)
			c.SysProcAttr = ownMounts()
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestOnASmallDisk") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}
