// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/engine/serve/servetest"
)

// TestRestart: a backend that ends is started again, and meanwhile clients are
// told so; when it has ended too often, serve ends.
func TestRestart(t *testing.T) {
	r := start(t, servetest.DiesOnChat, func(c *Config) { c.Restart, c.RestartMin = 2, 300*time.Millisecond }).up()
	for life := range 3 {
		if code, body := r.do("POST", "/v1/chat/completions", hello); code != 502 {
			t.Fatalf("life %d: %d %s", life, code, body)
		}
		if life == 2 {
			break
		}
		r.until("/health", 503, `{"status":"restarting"}`)
		resp := r.open("POST", "/v1/chat/completions", hello)
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(string(b), "the cpu backend ended and is being started again") {
			t.Errorf("meanwhile: %d %s", resp.StatusCode, b)
		}
		r.until("/health", 200, `{"status":"ok"}`)
	}
	var dead *BackendError
	if err := r.end(); !errors.As(err, &dead) || !strings.HasPrefix(err.Error(), "a cpu backend exited: ") {
		t.Errorf("%v", err)
	}
	notes := r.notes.String()
	for _, want := range []string{"starting it again in 300ms (1 of 2)", "starting it again in 600ms (2 of 2)", "the cpu backend is ready again", "the roof is on fire"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}

// TestNoRestartBeforeReady: a program that could not load would fail again.
func TestNoRestartBeforeReady(t *testing.T) {
	r := start(t, servetest.ExitsAtOnce, func(c *Config) { c.Restart = 5 })
	if err := r.end(); err == nil || strings.Contains(r.notes.String(), "again") {
		t.Errorf("%v; %s", err, r.notes)
	}
}

// TestStopWhileItWaits: the wait before a restart ends with serve.
func TestStopWhileItWaits(t *testing.T) {
	r := start(t, servetest.DiesOnChat, func(c *Config) { c.Restart, c.RestartMin = 1, time.Hour }).up()
	r.do("POST", "/v1/chat/completions", hello)
	r.until("/health", 503, `{"status":"restarting"}`)
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// until asks until the answer is as wanted.
func (r *running) until(path string, code int, body string) {
	r.t.Helper()
	got, text := 0, ""
	for range 1000 {
		if got, text = r.do("GET", path, ""); got == code && strings.TrimSpace(text) == body {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("%s: %d %s, want %d %s", path, got, text, code, body)
}

// TestDrain: once told to stop, a stream may finish, new requests may not
// begin, and what does not finish in time is cut.
func TestDrain(t *testing.T) {
	r := start(t, "", func(c *Config) { c.DrainLimit = time.Minute }).up()
	resp := r.open("POST", "/v1/chat/completions", `{"stream":true,"delay":200,"messages":[1]}`)
	defer resp.Body.Close()
	r.stop()
	r.until("/health", 503, `{"status":"stopping"}`)
	if code, body := r.do("POST", "/v1/chat/completions", hello); code != 503 || !strings.Contains(body, "the server is stopping") {
		t.Errorf("a new request: %d %s", code, body)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.HasSuffix(string(b), "data: [DONE]\n\n") {
		t.Errorf("the stream: %q, %v", b, err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}

	r = start(t, "", func(c *Config) { c.DrainLimit = 50 * time.Millisecond }).up()
	resp = r.open("POST", "/v1/chat/completions", `{"stream":true,"delay":600000,"messages":[1]}`)
	defer resp.Body.Close()
	r.stop()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream without an end: %v", err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// TestBackendThatIgnoresTerm is killed.
func TestBackendThatIgnoresTerm(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	t.Setenv(servetest.LogVariable, record)
	r := start(t, servetest.IgnoresTerm, func(c *Config) { c.StopGrace = 200 * time.Millisecond }).up()
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	wantGone(t, record)
}

// unixClient asks at a socket.
func unixClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "1bit") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	// One that a killed server left.
	old, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	old.(*net.UnixListener).SetUnlinkOnClose(false)
	old.Close()
	r := start(t, "", func(c *Config) { c.Host = "unix:" + path }).up()
	if r.url != "unix:"+path {
		t.Errorf("url %s", r.url)
	}
	resp, err := unixClient(path).Get("http://anything/health")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != socketMode {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, _, err := listen("unix:"+path, 0, System{}); err == nil || !strings.Contains(err.Error(), "is in use by another program") {
		t.Errorf("in use: %v", err)
	}
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket was left: %v", err)
	}
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o600)
	if _, _, err := listen("unix:"+file, 0, System{}); err == nil || !strings.Contains(err.Error(), "is there and no socket") {
		t.Errorf("a file: %v", err)
	}
	if _, _, err := listen("unix:", 0, System{}); err == nil {
		t.Error("no path: no error")
	}
	if _, _, err := listen("unix:"+filepath.Join(dir, strings.Repeat("s", 150)), 0, System{}); err == nil || !strings.Contains(err.Error(), "is too long for a socket") {
		t.Errorf("a long path: %v", err)
	}
	if l, _, err := listen("", 0, System{}); err == nil || !strings.Contains(err.Error(), "--host needs an address") {
		t.Errorf("no host: %v, %v", l, err)
	}
}

// TestNotify: the service manager hears how we are.
func TestNotify(t *testing.T) {
	dir, err := os.MkdirTemp("", "1bit")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	address := filepath.Join(dir, "n")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Skipf("no unixgram sockets here: %v", err)
	}
	defer manager.Close()
	next := func() string {
		t.Helper()
		manager.SetReadDeadline(time.Now().Add(30 * time.Second))
		b := make([]byte, 4096)
		n, err := manager.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	r := start(t, "", func(c *Config) { c.System = System{Address: address, Watchdog: 200 * time.Millisecond} }).up()
	for _, want := range []string{"STATUS=loading tiny", "READY=1\nSTATUS=serving tiny", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := next(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	for next() != "STOPPING=1\nSTATUS=finishing the requests under way" {
	}
}

// TestManagerThatDoesNotRead: we go on without it.
func TestManagerThatDoesNotRead(t *testing.T) {
	dir, err := os.MkdirTemp("", "1bit")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	address := &net.UnixAddr{Name: filepath.Join(dir, "n"), Net: "unixgram"}
	manager, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		t.Skipf("no unixgram sockets here: %v", err)
	}
	defer manager.Close()
	c, err := net.DialUnix("unixgram", nil, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for err == nil { // until there is no room
		c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		_, err = c.Write([]byte("x"))
	}
	done := make(chan struct{})
	go func() { System{Address: address.Name}.Notify("READY=1"); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("it waits for the manager")
	}
}

func TestFromEnvironment(t *testing.T) {
	env := map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "1", "NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "3000000"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if got := FromEnvironment(lookup, 7); got != (System{1, "@x", 3 * time.Second}) {
		t.Errorf("%+v", got)
	}
	env["WATCHDOG_PID"] = "8"
	if got := FromEnvironment(lookup, 9); got != (System{0, "@x", 0}) {
		t.Errorf("another's: %+v", got)
	}
	env["WATCHDOG_USEC"], env["LISTEN_FDS"] = "-1", "many"
	if got := FromEnvironment(lookup, 7); got != (System{Address: "@x"}) {
		t.Errorf("nonsense: %+v", got)
	}
	env["WATCHDOG_USEC"] = "9223372036854775807" // in nanoseconds below zero
	if got := FromEnvironment(lookup, 8); got.Watchdog != 0 {
		t.Errorf("longer than any interval: %+v", got)
	}
	if _, err := (System{Sockets: 2}).listener(); err == nil {
		t.Error("two sockets: no error")
	}
	for _, kv := range environ() {
		if strings.HasPrefix(kv, "NOTIFY_SOCKET=") {
			t.Error(kv)
		}
	}
}
