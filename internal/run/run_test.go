// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var plain = []string{"PATH=/usr/bin:/bin"}

func sh(script string) Command {
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: plain}
}

func TestRunKeepsStreamsApartAndTheExitCode(t *testing.T) {
	r, err := sh("echo out; echo err >&2; exit 3").Run(t.Context())
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || exit.Stderr != "err" || r.Code != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if string(r.Stdout) != "out\n" || string(r.Stderr) != "err\n" {
		t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
	}
}

func TestRunInheritsNothing(t *testing.T) {
	t.Setenv("LEAK", "1")
	r, err := Command{Path: "/usr/bin/env"}.Run(t.Context())
	if err != nil || len(r.Stdout) > 0 {
		t.Errorf("environment %q, %v", r.Stdout, err)
	}
}

// TestRunKeepsNoMoreThanItsLimit: on both streams, and that more was said on
// standard output is an error.
func TestRunKeepsNoMoreThanItsLimit(t *testing.T) {
	r, err := sh("head -c 70000000 /dev/zero").Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "printed more than 64 MiB") || len(r.Stdout) != captureLimit {
		t.Errorf("stdout: %d bytes kept, %v", len(r.Stdout), err)
	}
	r, err = sh("head -c 70000000 /dev/zero >&2").Run(t.Context())
	if err != nil || len(r.Stderr) != captureLimit {
		t.Errorf("stderr: %d bytes kept, %v", len(r.Stderr), err)
	}
}

func TestRunMasksSecrets(t *testing.T) {
	c := sh("echo the word is tiger >&2; exit 1 # tiger")
	c.Secrets = []string{"tiger", ""}
	_, err := c.Run(t.Context())
	if err == nil || strings.Contains(err.Error(), "tiger") || !strings.Contains(err.Error(), "the word is ***") {
		t.Errorf("error is %v", err)
	}
}

func TestRunEndsTheWholeGroupOnATimeLimit(t *testing.T) {
	c := sh("sleep 60 & echo $!; wait")
	c.Timeout = 300 * time.Millisecond
	r, err := c.Run(t.Context())
	var exit *ExitError
	if !errors.As(err, &exit) || !exit.TimedOut || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error is %v", err)
	}
	gone(t, string(r.Stdout))
}

func TestRunEndsWhatItsProgramLeaves(t *testing.T) {
	// The child keeps stdout open, so Run must not wait for its end.
	r, err := sh("sleep 60 & echo $!").Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone(t, string(r.Stdout))
}

// gone fails when the process of that id still runs a while later.
func gone(t *testing.T, pid string) {
	t.Helper()
	id, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
		if errors.Is(syscall.Kill(id, 0), syscall.ESRCH) || err == nil && bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(id, syscall.SIGKILL)
	t.Errorf("process %d is still there", id)
}

func TestRunSaysThatAProgramIsMissing(t *testing.T) {
	_, err := Command{Path: "no-such-program"}.Run(t.Context())
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error is %v", err)
	}
}

func TestLineQuotes(t *testing.T) {
	c := Command{Path: "git", Args: []string{"log", "a b", "it's", ""}}
	if got, want := c.Line(), `git log 'a b' 'it'\''s' ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestProcessAnswersAndEnds(t *testing.T) {
	p, err := Command{Path: "/bin/cat", Env: plain}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := p.Stdin.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if err != nil || line != "hello\n" {
		t.Errorf("it answered %q, %v", line, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestProcessTellsHowItDied(t *testing.T) {
	p, err := sh("echo why >&2; exit 4").Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var exit *ExitError
	if err := p.Close(); !errors.As(err, &exit) || exit.Code != 4 || exit.Stderr != "why" {
		t.Errorf("error is %v", err)
	}
}
