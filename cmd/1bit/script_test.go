// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
	"github.com/1bit-MONSTER/engine/engine/serve/servetest"
)

// TestMain gives the scripts two programs: 1bit, and a fake llama-server,
// which is in PATH under another name unless a script wants it there.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"1bit":              func() { os.Exit(run()) },
		"fake-llama-server": servetest.Main,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model":          makeModel,
			"freeport":       freePort,
			"busyport":       busyPort,
			"get":            get,
			"ended":          ended,
			"signal-parent":  signalParent,
			"exit-is":        exitIs,
			"exec-with-path": withPath,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
	})
}

// makeModel KIND FILE writes a model: tiny, cut, split, rotated, hostile.
func makeModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: model KIND FILE")
	}
	var b []byte
	switch args[0] {
	case "tiny":
		b = gguftest.File{}.Bytes()
	case "hostile": // its architecture is for the terminal
		b = gguftest.File{KV: []gguftest.KV{{Key: "general.architecture", Value: "\x1b]0;owned\x07evil\n" + strings.Repeat("x", 1000)}}}.Bytes()
	case "cut":
		b = gguftest.Llama(1).Bytes()
		b = b[:len(b)/2]
	case "lying":
		b = gguftest.File{KeyCount: 4000}.Bytes()
	case "split":
		b = gguftest.File{KV: []gguftest.KV{{Key: "split.no", Value: uint16(0)}, {Key: "split.count", Value: uint16(2)}}}.Bytes()
	case "rotated":
		b = gguftest.File{KV: []gguftest.KV{{Key: "onebit.hadamard_q4_0", Value: int32(32)}}}.Bytes()
	default:
		ts.Fatalf("unknown kind %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

// freePort NAME sets the variable NAME to a port that is free now.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	ts.Check(l.Close())
}

// busyPort NAME sets the variable NAME to a port that is taken until the
// script ends.
func busyPort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// get URL WANT asks until the body of the answer contains WANT.
func get(ts *testscript.TestScript, neg bool, args []string) {
	var last string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp, err := fetch(ts, args[0])
		if err != nil {
			last = err.Error()
			continue
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if last = fmt.Sprintf("%d %s", resp.StatusCode, b); strings.Contains(last, args[1]) {
			return
		}
	}
	ts.Fatalf("%s did not answer with %s in 30 s; last: %s", args[0], args[1], last)
}

// fetch gets a URL, or unix:SOCKET:PATH.
func fetch(ts *testscript.TestScript, url string) (*http.Response, error) {
	rest, ok := strings.CutPrefix(url, "unix:")
	if !ok {
		return http.Get(url)
	}
	socket, path, _ := strings.Cut(rest, ":")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", ts.MkAbs(socket))
	}}}
	return client.Get("http://1bit" + path)
}

// signalParent KILL|TERM|INT RECORD sends a signal to the parent of the recorded
// backend.
func signalParent(ts *testscript.TestScript, neg bool, args []string) {
	r, err := servetest.ReadRecord(ts.MkAbs(args[1]))
	ts.Check(err)
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(r.PID), "stat"))
	ts.Check(err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	ts.Check(err)
	if parent <= 1 {
		ts.Fatalf("the backend's parent is %d", parent)
	}
	sig := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT}[args[0]]
	ts.Check(syscall.Kill(parent, sig))
}

// ended waits for the recorded backend, and what it left, to end.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	r, err := servetest.ReadRecord(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, pid := range []int{r.PID, r.Fork} {
		for i := 0; pid != 0; i++ {
			stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
			if _, rest, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(rest, "Z") {
				break
			}
			if i == 500 {
				syscall.Kill(pid, syscall.SIGKILL)
				ts.Fatalf("process %d outlived its parent", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// exitIs CODE ARG... runs 1bit and holds its exit status against CODE.
func exitIs(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("1bit", args[1:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("1bit %s: exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// withPath PATH ARG... runs 1bit, which must fail, with another PATH.
func withPath(ts *testscript.TestScript, neg bool, args []string) {
	path, err := exec.LookPath(filepath.Join(strings.Split(ts.Getenv("PATH"), ":")[0], "1bit"))
	ts.Check(err)
	old := ts.Getenv("PATH")
	ts.Setenv("PATH", args[0])
	err = ts.Exec(path, args[1:]...)
	ts.Setenv("PATH", old)
	if err == nil {
		ts.Fatalf("1bit %s: no error", strings.Join(args[1:], " "))
	}
}
