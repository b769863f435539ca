// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
)

// TestMain is dist-step where its variable is set.
func TestMain(m *testing.M) {
	if os.Getenv(sandbox.StepRun) != "" {
		main()
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == "socket" {
		if _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err != nil {
			os.Stderr.WriteString(unix.ErrnoName(err.(unix.Errno)) + "\n")
			os.Exit(4)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// step runs dist-step and returns what it prints on stdout, and its exit code.
func step(t *testing.T, args ...string) (string, int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = []string{sandbox.StepRun + "=run 1", "SECRET=x"}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestProbe(t *testing.T) {
	if out, code := step(t, "-probe"); code != 0 || out != "run 1\n" {
		t.Errorf("%d: %q", code, out)
	}
}

func TestNotAStep(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		say  string
		root bool
	}{
		{"no program", nil, "arguments: no program to run", false},
		{"an unknown flag", []string{"-x"}, "flag provided but not defined: -x", false},
		{"a program that is not there", []string{"-env=PATH=/nowhere", "--", "cc"}, "cc: not found in /nowhere", true},
		{"a folder that is not there", []string{"-dir=/nowhere", "--", "/bin/true"}, "work folder: chdir /nowhere: no such file or directory", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && os.Getuid() != 0 {
				c.say = "user: this process is not root in its container"
			}
			if out, code := step(t, c.args...); code != sandbox.StepFailed || out != "run 1\ndist-step: "+c.say+"\n" {
				t.Errorf("%d: %q, want %q", code, out, c.say)
			}
		})
	}
}

// TestStep shows what a step has: the user, its environment and no other, one
// stream, no capability, the filter; and that its exit code is the process's.
func TestStep(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("in its container dist-step is root, this test is not")
	}
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) { // the step's user is another one
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, code := step(t, "-dir="+dir, "-own="+dir, "-jobs", "-cpus=1", "-env=A=b c", "-env=PATH=/usr/bin:/bin", "--", "sh", "-c",
		`id -u; id -G; umask; pwd; echo "$A" $SECRET $MAKEFLAGS; echo err >&2; touch made; ulimit -c; ls /proc/self/fd | wc -l
		grep -E '^(CapPrm|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; exit 7`)
	want := "run 1\n1000\n1000\n0022\n" + dir + "\nb c -j1\nerr\n0\n4\nCapPrm:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
	if code != 7 || out != want {
		t.Errorf("exit code %d, it printed:\n%s\nwant:\n%s", code, out, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
		t.Error(err)
	}
}

func TestStepHasNoNetwork(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("in its container dist-step is root, this test is not")
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "dist-step-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		say  string
	}{
		{nil, 4, "EAFNOSUPPORT"},
		{[]string{"-open"}, 0, ""},
	} {
		out, code := step(t, append(c.args, "--", program, "socket")...)
		if code != c.code || strings.TrimSpace(strings.TrimPrefix(out, "run 1\n")) != c.say {
			t.Errorf("%v: exit code %d, it printed %q", c.args, code, out)
		}
	}
}
