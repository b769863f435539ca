// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// What a recipe does not name is not there: sources of another pin, an input,
// another component, a file of the machine.
func TestStepSeesNoUndeclaredInput(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path string }{
		{"sources of another pin", "/src/other/a"},
		{"an input", "/inputs/demo/a"},
		{"a component", "/in/other/a"},
		{"a file of the machine", secret},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, testRecipe("demo", sh("s", "cp "+c.path+" /out/out")))
			b.Provider = given{map[string]string{"demo": b.source, "other": b.source}}
			_, err := b.one(t.Context(), b.planned(t, "demo"), nil)
			if verdict.Of(err) != verdict.Fail || err == nil || !strings.Contains(err.Error(), "No such file") || !strings.Contains(err.Error(), c.path) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStepThatPrintsWithoutEnd(t *testing.T) {
	b := newBench(t, testRecipe("demo", sh("s", "touch /out/out; head -c 1073741824 /dev/zero")))
	_, err := b.one(t.Context(), b.planned(t, "demo"), nil)
	if verdict.Of(err) != verdict.Infra || err == nil || !strings.Contains(err.Error(), "output") {
		t.Errorf("verdict %s: %v", verdict.Of(err), err)
	}
	nothingKept(t, b.Store)
}

// A step that something outside ends, such as the kernel where memory is
// short, says nothing about the sources.
func TestStepThatIsKilled(t *testing.T) {
	length := fmt.Sprint(1000000 + os.Getpid())
	b := newBench(t, testRecipe("demo", Step{Name: "s", Args: []string{"sleep", length}}))
	failed := make(chan error, 1)
	go func() {
		_, err := b.one(t.Context(), b.planned(t, "demo"), nil)
		failed <- err
	}()
	if err := syscall.Kill(waitForProcess(t, "sleep", length), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; verdict.Of(err) != verdict.Infra || err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("verdict %s: %v", verdict.Of(err), err)
	}
	nothingKept(t, b.Store)
}

// waitForProcess returns the process that has these arguments.
func waitForProcess(t *testing.T, args ...string) int {
	t.Helper()
	want := []byte(strings.Join(args, "\x00") + "\x00")
	for range 1000 {
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			if line, err := os.ReadFile(name); err == nil && bytes.Equal(line, want) {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
				if err != nil {
					t.Fatal(err)
				}
				return pid
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("there is no process %v", args)
	return 0
}

// nothingKept fails the test when a store has an entry or work in progress.
func nothingKept(t *testing.T, st *store.Store) {
	t.Helper()
	if all, err := st.List(); err != nil || len(all) > 0 {
		t.Errorf("the store has %v (%v)", all, err)
	}
	if left, _ := os.ReadDir(filepath.Join(st.Dir(), "tmp")); len(left) > 0 {
		t.Errorf("the store's tmp has %v", left)
	}
}

// killedEnv makes this test binary build a component in the cache that it
// names, from sources that begin with a folder that it names too.
const killedEnv = "ONEBIT_TEST_COMPONENT"

// halfway waits in the middle of a build for as long as the source has a file
// named wait.
const halfway = "mkdir /out/out; echo half > /out/out/a; while [ -e /src/demo/wait ]; do sleep 0.01; done; echo whole > /out/out/b"

func componentOf(cache, source string) (*Builder, *PlannedComponent, error) {
	runner, err := NewHostRunner(context.Background(), HostTools)
	if err != nil {
		return nil, nil, err
	}
	st, err := Cache{cache}.Store()
	if err != nil {
		return nil, nil, err
	}
	r := testRecipe("demo", sh("s", halfway))
	in := &Inputs{Recipe: r.Name, Space: HostTools, Steps: r.Steps, Outputs: r.Outputs, Epoch: 1}
	key, err := in.Key()
	b := &Builder{Store: st, Cache: Cache{cache}, Runner: runner, Provider: given{map[string]string{"demo": source}}}
	return b, &PlannedComponent{Recipe: r, Name: r.Name, Inputs: in, Key: key}, err
}

func runComponent(spec string) int {
	cache, source, _ := strings.Cut(spec, "|")
	b, c, err := componentOf(cache, source)
	if err == nil {
		_, err = b.one(context.Background(), c, nil)
	}
	return verdict.ExitCode(err)
}

func TestKilledComponentLeavesNothingHalfMade(t *testing.T) {
	newBench(t) // skips where there is no sandbox
	cache, source := t.TempDir(), t.TempDir()
	t.Cleanup(func() { rmtree.All(cache) })
	wait := filepath.Join(source, "wait")
	if err := os.WriteFile(wait, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedEnv+"="+cache+"|"+source)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(cache, "store", "tmp", "w*", "out", "out", "a")
	for tries := 0; ; tries++ {
		if found, _ := filepath.Glob(half); len(found) > 0 {
			break
		}
		if tries == 1000 {
			cmd.Process.Kill()
			cmd.Wait()
			t.Fatal("it does not build")
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()

	b, c, err := componentOf(cache, source)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := b.Store.List(); err != nil || len(all) > 0 {
		t.Fatalf("the store has %v (%v)", all, err)
	}
	if err := os.Remove(wait); err != nil {
		t.Fatal(err)
	}
	built, err := b.one(t.Context(), c, nil)
	if err != nil || built.Hit {
		t.Fatalf("the next build: %+v, %v", built, err)
	}
	for name, want := range map[string]string{"a": "half\n", "b": "whole\n"} {
		if got, err := os.ReadFile(filepath.Join(built.Path, "out", name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(b.Store.Dir(), "tmp")); len(left) > 0 {
		t.Errorf("the store's tmp has %v", left)
	}
}
