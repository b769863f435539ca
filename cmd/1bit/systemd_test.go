// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

// programs returns the paths of 1bit and of the fake llama-server, which are
// this test binary under other names.
func programs(t testing.TB) (onebit, fake string) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	onebit, fake = filepath.Join(dir, "1bit"), filepath.Join(dir, "fake-llama-server")
	for _, path := range []string{onebit, fake} {
		if err := os.Symlink(self, path); err != nil {
			t.Fatal(err)
		}
	}
	return onebit, fake
}

// TestSocketActivation: 1bit answers at the socket that it was started with,
// tells its manager, and its backend learns nothing of that.
func TestSocketActivation(t *testing.T) {
	onebit, fake := programs(t)
	dir := filepath.Dir(onebit)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	passed, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	model := gguftest.File{}.Write(t, filepath.Join(dir, "m.gguf"))
	record := filepath.Join(dir, "record")
	cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"`, "sh",
		onebit, "serve", "-m", model, "--device", "cpu", "--llama-server", fake, "-p", "1")
	cmd.ExtraFiles = []*os.File{passed}
	cmd.Env = append(os.Environ(), "FAKE_LLAMA_LOG="+record, "HOME="+dir, "NOTIFY_SOCKET="+filepath.Join(dir, "absent"))
	var out strings.Builder
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	passed.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ok := false
	for end := time.Now().Add(30 * time.Second); !ok && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get(url + "/health"); err == nil {
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			ok = string(b) == "{\"status\":\"ok\"}\n"
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := <-ended; err != nil || !ok {
		t.Fatalf("ready %v, %v\n%s", ok, err, &out)
	}
	b, err := os.ReadFile(record)
	if err != nil || strings.Contains(string(b), "LISTEN_FDS") || strings.Contains(string(b), "NOTIFY_SOCKET") {
		t.Errorf("the backend's environment: %s %v", b, err)
	}
}

// TestPassedSocketThatDoesNotListen: as with Accept=yes. It is said before the
// model is loaded.
func TestPassedSocketThatDoesNotListen(t *testing.T) {
	onebit, fake := programs(t)
	dir := filepath.Dir(onebit)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	passed, err := c.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Close()
	cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"`, "sh",
		onebit, "serve", "-m", gguftest.File{}.Write(t, filepath.Join(dir, "m.gguf")), "--device", "cpu", "--llama-server", fake)
	cmd.ExtraFiles = []*os.File{passed}
	cmd.Env = append(os.Environ(), "FAKE_LLAMA=never", "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "1bit serve: the socket that the service manager passed does not listen: ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnitFile: the command line of the unit is one that serve takes.
func TestUnitFile(t *testing.T) {
	b, err := os.ReadFile("../../engine/serve/unit/1bit.service")
	if err != nil {
		t.Fatal(err)
	}
	_, line, ok := strings.Cut(string(b), "\nExecStart=1bit serve ")
	line, _, _ = strings.Cut(line, "\n")
	args := strings.Fields(strings.NewReplacer("${MODEL}", "m.gguf", "$MORE", "").Replace(line))
	cmd := newServe()
	if err := cmd.ParseFlags(args); !ok || err != nil || cmd.Flags().NArg() != 0 {
		t.Errorf("%q: %v", args, err)
	}
	for _, want := range []string{"Type=notify", "TimeoutStartSec=infinity", "LimitMEMLOCK=infinity", "KillMode=mixed"} {
		if !strings.Contains(string(b), "\n"+want+"\n") {
			t.Errorf("the unit lacks %s", want)
		}
	}
}
