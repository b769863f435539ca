// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// TestMain lets this test binary be a build that can be killed.
func TestMain(m *testing.M) {
	sandbox.Main()
	if spec := os.Getenv("ONEBIT_TEST_BUILD"); spec != "" {
		os.Exit(runSpec(spec))
	}
	if spec := os.Getenv(killedEnv); spec != "" {
		os.Exit(runComponent(spec))
	}
	os.Exit(m.Run())
}

func runSpec(spec string) int {
	var o Options
	if err := json.Unmarshal([]byte(spec), &o); err != nil {
		panic(err)
	}
	_, err := Serve(context.Background(), o)
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
	}
	return verdict.ExitCode(err)
}

// buildProcess returns a process that builds o.
func buildProcess(t *testing.T, o Options) *exec.Cmd {
	t.Helper()
	spec, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ONEBIT_TEST_BUILD="+string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// clean fails the test when anything half-made lies about.
func clean(t *testing.T, o Options) {
	t.Helper()
	for _, dir := range []string{o.Out, o.Cache.path("store", "tmp"), o.Cache.path("state")} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if name := e.Name(); strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, "w") {
				t.Errorf("%s holds %s", dir, name)
			}
		}
	}
	st, err := o.Cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	all, err := st.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Kind == "toolchain" {
			continue // the user's own, checked when it came in
		}
		if d := st.Verify(e.Key); d != nil {
			t.Errorf("the store holds a damaged entry: %+v", d)
		}
	}
}

func TestKilledBuildLeavesNothingWrong(t *testing.T) {
	o := Options{Repo: project(t, nil), Out: t.TempDir(), Cache: newCache(t), Go: pinnedGo()}
	want := build(t, o)
	for i, delay := range []time.Duration{0, 20, 60, 120, 250, 400, 700, 1100} {
		// A new greeting each time, so that there is something to build.
		write(t, o.Repo, "internal/say/data/hello", strings.Repeat("x", i+1))
		cmd := buildProcess(t, o)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay * time.Millisecond)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	}
	write(t, o.Repo, "internal/say/data/hello", fixture["internal/say/data/hello"])
	if r := build(t, o); r.SHA256 != want.SHA256 {
		t.Errorf("after the kills sha256 is %s, was %s", r.SHA256, want.SHA256)
	}
	archives, err := filepath.Glob(filepath.Join(o.Out, "*.tar.zst"))
	if err != nil || len(archives) != 1 {
		t.Errorf("archives: %v, %v", archives, err)
	}
	write(t, o.Repo, "internal/say/data/hello", "one more\n")
	build(t, o)
	clean(t, o)
}

func TestTwoBuildsAtOnce(t *testing.T) {
	o := Options{Repo: project(t, nil), Out: t.TempDir(), Cache: newCache(t), Go: pinnedGo()}
	a, b := buildProcess(t, o), buildProcess(t, o)
	other := o
	other.Out = t.TempDir()
	c := buildProcess(t, other)
	for _, cmd := range []*exec.Cmd{a, b, c} {
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range []*exec.Cmd{a, b, c} {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	build(t, o)
	build(t, other)
	r, s := build(t, o), build(t, other)
	if !r.UpToDate || !s.UpToDate || r.SHA256 != s.SHA256 {
		t.Errorf("got %+v and %+v", r, s)
	}
	clean(t, o)
}

// mount mounts a tmpfs of the given options for the time of the test; only
// root can.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("skipped: no tmpfs can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

func TestFullAndReadOnlyDisks(t *testing.T) {
	cache := newCache(t)
	repo := project(t, nil)
	for _, c := range []struct {
		name string
		set  func(t *testing.T, o *Options)
		say  string
	}{
		{"the cache's disk is full", func(t *testing.T, o *Options) { o.Cache = Cache{mount(t, "size=64k")} }, "is full"},
		{"the cache is read-only", func(t *testing.T, o *Options) { o.Cache = Cache{mount(t, "ro")} }, "name a cache that can with DIST_CACHE"},
		{"the output's disk is full", func(t *testing.T, o *Options) { o.Out = mount(t, "size=64k") }, "name another folder with --out"},
		{"the output is read-only", func(t *testing.T, o *Options) { o.Out = mount(t, "ro") }, "name another folder with --out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Repo: repo, Out: t.TempDir(), Cache: cache, Go: pinnedGo()}
			c.set(t, &o)
			_, err := Serve(t.Context(), o)
			if err == nil || verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), c.say) {
				t.Errorf("verdict %s: %v, want infra and %q", verdict.Of(err), err, c.say)
			}
			if left, _ := os.ReadDir(o.Out); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// The cache may be deleted at any time: what comes of that is the machine's
// fault, said in one sentence, and the next build makes all anew.
func TestCacheRemovedDuringABuild(t *testing.T) {
	o := Options{Repo: project(t, nil), Out: t.TempDir(), Cache: newCache(t), Go: pinnedGo()}
	build(t, o)
	for i, delay := range []time.Duration{20, 100, 300, 600} {
		write(t, o.Repo, "internal/say/data/hello", strings.Repeat("y", i+1))
		cmd := buildProcess(t, o)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay * time.Millisecond)
		exec.Command("chmod", "-R", "u+w", o.Cache.path("go")).Run()
		for _, sub := range []string{"go", "locks", "state", "store/tmp", "store/locks"} {
			os.RemoveAll(o.Cache.path(sub))
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 0 && (code != verdict.Infra.ExitCode() || strings.Count(said.String(), "\n") != 1) {
			t.Errorf("after %d ms: exit code %d, %q", delay, code, said.String())
		}
	}
	write(t, o.Repo, "internal/say/data/hello", "whole\n")
	build(t, o)
	clean(t, o)
}
