// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// act is set for a test binary that was started to play a part.
const act = "ONEBIT_CHILD_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(act) {
	case "":
		os.Exit(m.Run())
	case "fails":
		for i := range 30 {
			fmt.Printf("line %d\n", i)
		}
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
	case "prints long lines":
		fmt.Println(strings.Repeat("x", 3*lineLimit))
		fmt.Print("GET /health\nno newline at the end")
		os.Exit(0)
	case "prints for a terminal":
		fmt.Print("  name: \x1b]0;owned\x07\x1b[31mred\x00\u202e\xff end\n\x1b[2J\n")
		os.Exit(0)
	case "sleeps":
		time.Sleep(time.Minute)
	case "ignores":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ignoring")
		time.Sleep(time.Minute)
	case "forks": // and prints both process ids
		c := self("sleeps")
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Println("pids", os.Getpid(), c.Process.Pid)
		time.Sleep(time.Minute)
	case "holds": // a child of its own; its lines go to our standard output
		c := self("forks")
		if _, err := Start(Command{Path: c.Path, Env: c.Env, Log: os.Stdout}); err != nil {
			panic(err)
		}
		time.Sleep(time.Minute)
	}
	os.Exit(1)
}

// self is this test binary in another part.
func self(part string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), act+"="+part)
	return c
}

func start(t *testing.T, part string, log io.Writer) *Child {
	t.Helper()
	c := self(part)
	ch, err := Start(Command{Path: c.Path, Env: c.Env, Log: log,
		Drop: func(line []byte) bool { return strings.Contains(string(line), "GET /health") }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ch.Stop(0) })
	return ch
}

func TestEndIsExplained(t *testing.T) {
	var log strings.Builder
	ch := start(t, "fails", &log)
	if got := ch.How(); got != "exited with status 7" {
		t.Errorf("How = %q", got)
	}
	lines := ch.Tail()
	if len(lines) != tailLines || lines[0] != "line 11" || lines[tailLines-1] != "out of luck" {
		t.Errorf("tail of %d lines: %q", len(lines), lines)
	}
	if got := strings.Count(log.String(), "\n"); got != 31 {
		t.Errorf("the log got %d lines, not 31", got)
	}
}

func TestLongAndDroppedLines(t *testing.T) {
	ch := start(t, "prints long lines", nil)
	<-ch.Done()
	lines := ch.Tail()
	if len(lines) != 2 || len(lines[0]) != lineLimit || lines[1] != "no newline at the end" {
		t.Errorf("%d lines", len(lines))
	}
}

// A model's name, for one, reaches the log and the terminal this way.
func TestLinesAreSafeForATerminal(t *testing.T) {
	var log strings.Builder
	c := self("prints for a terminal")
	ch, err := Start(Command{Path: c.Path, Env: c.Env, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	<-ch.Done()
	const want = "  name: red end"
	if tail := ch.Tail(); len(tail) != 1 || tail[0] != want {
		t.Errorf("tail %q, want %q", tail, want)
	}
	if log.String() != want+"\n\n" {
		t.Errorf("log %q", log.String())
	}
}

func TestNoSuchProgram(t *testing.T) {
	if _, err := Start(Command{Path: "/absent/program"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestStop(t *testing.T) {
	for part, want := range map[string]string{"sleeps": "terminated", "ignores": "killed"} {
		r, w := io.Pipe()
		ch := start(t, part, w)
		if part == "ignores" {
			bufio.NewReader(r).ReadString('\n') // it has set that up
		}
		ch.Stop(100 * time.Millisecond)
		if got := ch.How(); got != "was killed by a signal ("+want+")" {
			t.Errorf("%s: %s", part, got)
		}
		ch.Stop(0) // again is nothing
	}
}

// pids reads the process ids that the part "forks" prints.
func pids(t *testing.T, r io.Reader) []int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	f := strings.Fields(line)
	if err != nil || len(f) != 3 || f[0] != "pids" {
		t.Fatalf("read %q, %v", line, err)
	}
	a, _ := strconv.Atoi(f[1])
	b, _ := strconv.Atoi(f[2])
	return []int{a, b}
}

// wantGone waits for processes to end.
func wantGone(t *testing.T, pids []int) {
	t.Helper()
	for range 500 {
		pids = slices.DeleteFunc(pids, gone)
		if len(pids) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("after 5 s processes %v are still there", pids)
	for _, p := range pids {
		syscall.Kill(p, syscall.SIGKILL)
	}
}

// gone says whether a process has ended. One that waits for a parent that
// never asks is a zombie, and has ended too.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	r, w := io.Pipe()
	ch := start(t, "forks", w)
	ids := pids(t, r)
	ch.Stop(5 * time.Second)
	wantGone(t, ids)
}

func TestOwnEndEndsTheWholeGroup(t *testing.T) {
	r, w := io.Pipe()
	ch := start(t, "forks", w)
	ids := pids(t, r)
	syscall.Kill(ch.PID(), syscall.SIGKILL)
	<-ch.Done()
	wantGone(t, ids)
}

func TestNothingOutlivesAKilledParent(t *testing.T) {
	parent := self("holds")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	ids := pids(t, out)
	for _, id := range ids {
		if gone(id) {
			t.Fatalf("process %d is not there", id)
		}
	}
	parent.Process.Kill()
	parent.Wait()
	wantGone(t, ids)
}
