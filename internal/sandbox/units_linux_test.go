// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDiagnoseNamesTheSetting(t *testing.T) {
	for _, c := range []struct {
		file, text, why, do string
	}{
		{"proc/sys/user/max_user_namespaces", "0\n", "no user namespaces", "user.max_user_namespaces"},
		{"proc/sys/kernel/unprivileged_userns_clone", "0\n", "to root only", "kernel.unprivileged_userns_clone"},
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "AppArmor", "apparmor_restrict_unprivileged_userns"},
		{".dockerenv", "", "this container", "seccomp"},
		{"run/.containerenv", "", "this container", "seccomp"},
		{"proc/sys/user/max_user_namespaces", "999\n", "the kernel refuses", "ask for"},
	} {
		root := t.TempDir()
		write(t, root, map[string]string{c.file: c.text})
		err := diagnose("namespaces", root, errors.New("operation not permitted"))
		if !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), c.do) || !strings.Contains(err.Error(), "not permitted") || verdict.Of(err) != verdict.Infra {
			t.Errorf("%s: %v is %s", c.file, err, verdict.Of(err))
		}
	}
}

func TestBwrapThatIsMissingOrOld(t *testing.T) {
	var u *Unavailable
	if err := (Bubblewrap{Path: filepath.Join(t.TempDir(), "bwrap")}).Probe(t.Context()); !errors.As(err, &u) || !strings.Contains(u.Do, "bubblewrap") {
		t.Errorf("missing: %v", err)
	}
	old := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho ' --perms OCTAL --clearenv'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (Bubblewrap{Path: old}).Probe(t.Context()); !errors.As(err, &u) || !strings.Contains(u.Why, "--size") {
		t.Errorf("old: %v", err)
	}
	refused := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(refused, []byte("#!/bin/sh\n[ \"$1\" != --help ] || { echo ' --perms --clearenv --size --json-status-fd'; exit; }\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (Bubblewrap{Path: refused}).Probe(t.Context()); !errors.As(err, &u) || !strings.Contains(u.Why, "No permissions") {
		t.Errorf("refused: %v", err)
	}
}

func TestOwnCgroupIsFound(t *testing.T) {
	const slice = "/user.slice/user-1000.slice/user@1000.service/app.slice/build.scope"
	for _, c := range []struct {
		name, self, mounts, kind, controller, want string
	}{
		{"unified", "0::" + slice + "\n", "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n", "cgroup2", "", "/sys/fs/cgroup" + slice},
		{"of a container", "0::/\n", "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "cgroup2", "", "/sys/fs/cgroup"},
		{"mounted from below", "0::/a/b\n", "30 25 0:26 /a /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "cgroup2", "", "/sys/fs/cgroup/b"},
		{"first version", "8:pids:/x\n0::/\n", "34 29 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n35 29 0:31 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n", "cgroup", "pids", "/sys/fs/cgroup/pids/x"},
		{"not mounted", "0::/\n", "1 1 0:1 / / rw - ext4 /dev/x rw\n", "cgroup2", "", ""},
	} {
		proc := t.TempDir()
		write(t, proc, map[string]string{"self/cgroup": c.self, "self/mountinfo": c.mounts})
		if _, got := ownCgroup(proc, c.kind, c.controller); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The kernel's files are stood in for by plain ones: this shows what is written
// and how the answers are read, not that the kernel heeds it.
func TestCgroupLimitsAndFigures(t *testing.T) {
	parent := t.TempDir()
	write(t, parent, map[string]string{"cgroup.subtree_control": "cpu memory pids\n", "cgroup.procs": ""})
	if !delegates(parent) {
		t.Error("a delegated cgroup is not taken")
	}
	write(t, parent, map[string]string{"cgroup.subtree_control": "cpu pids\n"})
	if delegates(parent) {
		t.Error("a cgroup without the memory controller is taken")
	}
	g := &cgroup{dir: parent}
	write(t, parent, map[string]string{"memory.max": "", "memory.oom.group": "", "pids.max": "", "memory.current": "1000\n", "memory.peak": "4096\n", "pids.current": "70\n",
		"memory.events": "low 0\noom 2\noom_kill 1\n", "pids.events": "max 0\n", "cpu.stat": "usage_usec 3000\nuser_usec 2000\nsystem_usec 1000\n"})
	if err := g.limit(Limits{Memory: 5000, Processes: 10}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"memory.max": "5000", "memory.oom.group": "1", "pids.max": "74"} {
		if b, err := os.ReadFile(filepath.Join(parent, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if u := g.look(Limits{Memory: 5000}); u != (usage{memory: 1000, tasks: 6, user: 2 * time.Millisecond, sys: time.Millisecond}) {
		t.Errorf("usage %+v", u)
	}
	var r Result
	if g.read(&r); r.PeakMemory != 4096 || !r.OOM || r.User != 2*time.Millisecond || g.refused() {
		t.Errorf("%+v", r)
	}
	if write(t, parent, map[string]string{"pids.events": "max 3\n"}); !g.refused() {
		t.Error("a refused fork is not seen")
	}
}

func TestStaleCgroupsAreRemoved(t *testing.T) {
	parent := t.TempDir()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(parent, fmt.Sprintf("dist-step-%d-1", ended.Process.Pid))
	ours := filepath.Join(parent, fmt.Sprintf("dist-step-%d-1", os.Getpid()))
	other := filepath.Join(parent, "other")
	for _, d := range []string{stale, ours, other} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(parent)
	left, err := filepath.Glob(parent + "/*")
	if err != nil || !slices.Equal(left, []string{ours, other}) {
		t.Errorf("left are %q, %v", left, err)
	}
}

func TestParseStat(t *testing.T) {
	line := "42 (a) b) (c) S 7 1 1 0 -1 4194560 100 0 0 0 11 12 13 14 20 0 3 0 1234 9000 55 18446744073709551615 1 1\n"
	got, zombie, ok := parseStat([]byte(line))
	if !ok || zombie || got[statParent] != 7 || got[statUser] != 11 || got[statUser+3] != 14 || got[statThreads] != 3 || got[statRSS] != 55 {
		t.Errorf("%v %v %v", got, zombie, ok)
	}
	if _, zombie, ok := parseStat([]byte(strings.Replace(line, ") S", ") Z", 1))); !ok || !zombie {
		t.Error("a zombie is not seen")
	}
	for _, bad := range []string{"", "1 (x) S", "1 x S 1", strings.Replace(line, " 55 ", " x ", 1)} {
		if _, _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestSizeCountsOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/x": strings.Repeat("x", 1<<20)})
	one := size([]Bind{{From: dir, Writable: true}})
	if err := os.Link(filepath.Join(dir, "a/x"), filepath.Join(dir, "y")); err != nil {
		t.Fatal(err)
	}
	if two := size([]Bind{{From: dir, Writable: true}, {From: "/usr"}}); two != one || one < 1<<20 {
		t.Errorf("%d bytes, then %d", one, two)
	}
}

func TestOutsideAndEnv(t *testing.T) {
	s := Spec{Binds: []Bind{{From: "/h/job", To: "/job"}, {From: "/h/src", To: "/job/src"}}, Env: []string{"A=1", "PWD=/x", "B=2", "A=3"}}
	for inside, want := range map[string]string{"/job": "/h/job", "/job/x": "/h/job/x", "/job/src/y": "/h/src/y", "/jobs": "", "/": ""} {
		if got, ok := s.Outside(inside); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", inside, got, ok)
		}
	}
	if got, want := s.env("/w"), []string{"B=2", "A=3", "PWD=/w"}; !slices.Equal(got, want) {
		t.Errorf("env %q, want %q", got, want)
	}
	for n, want := range map[int64]string{0: "0 bytes", 1000: "1000 bytes", 1 << 20: "1 MiB", 3 << 30: "3 GiB"} {
		if got := bytesSize(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
