// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package toolchain

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain/toolchaintest"
)

// TestMain lets this test binary be a process that can be killed while it
// unpacks.
func TestMain(m *testing.M) {
	dir := os.Getenv("ONEBIT_TEST_UNPACK")
	if dir == "" {
		os.Exit(m.Run())
	}
	st, err := store.Open(dir)
	if err != nil {
		panic(err)
	}
	pin := &pins.Pin{Name: "debian-test", Use: pins.BuildTool, Track: pins.Track{Kind: pins.Deb}, Lock: &pins.Lock{Version: "12.15", Date: lockDate}}
	p := &pool{st: st, files: map[string][]byte{}}
	for _, d := range toolchaintest.Base() {
		pin.Lock.Files = append(pin.Lock.Files, d.Locked())
		p.files[d.Locked().SHA256] = d.Bytes()
	}
	_, err = Fetch(context.Background(), st, stuck{p, os.Getenv("ONEBIT_TEST_PIPE")}, pin, nil)
	panic(err)
}

// stuck gives a pipe that nobody writes to instead of the package login, the
// last one.
type stuck struct {
	*pool
	pipe string
}

func (s stuck) Content(ctx context.Context, pin *pins.Pin) ([]*store.Entry, error) {
	entries, err := s.pool.Content(ctx, pin)
	if err == nil {
		entries[len(entries)-1].Path = s.pipe
	}
	return entries, err
}

func TestDebianKilled(t *testing.T) {
	pin, p := debianPin(t, toolchaintest.Base()...)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ONEBIT_TEST_UNPACK="+p.st.Dir(), "ONEBIT_TEST_PIPE="+pipe)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(p.st.Dir(), "tmp", "w*", ".content.unpack-*", "usr", "bin", "gcc")
	for tries := 0; ; tries++ {
		if found, _ := filepath.Glob(half); len(found) > 0 {
			break
		}
		if tries == 1000 {
			cmd.Process.Kill()
			t.Fatal("it does not unpack")
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := Cached(p.st, pin); err == nil {
		t.Fatal("a half toolchain is in the store")
	}
	dir, err := Fetch(t.Context(), p.st, p, pin, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := listing(t, dir); got != baseTree {
		t.Errorf("got\n%s\nwant\n%s", got, baseTree)
	}
	if left, _ := filepath.Glob(filepath.Join(p.st.Dir(), "tmp", "w*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
