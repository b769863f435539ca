// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/engine/gguf"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/engine/serve/servetest"
)

func TestBackendThatExitsAtOnce(t *testing.T) {
	err := start(t, servetest.ExitsAtOnce).end()
	var dead *BackendError
	if !errors.As(err, &dead) {
		t.Fatalf("got %v", err)
	}
	if dead.How != "exited with status 1" || !slices.Contains(dead.Tail, "exiting due to model loading error") {
		t.Errorf("%q, %q", dead.How, dead.Tail)
	}
	if !strings.HasPrefix(err.Error(), "a cpu backend exited: ") || !strings.Contains(err.Error(), "exited with status 1; its last lines:\n  error loading model") {
		t.Errorf("sentence: %s", err)
	}
}

func TestBackendThatIsNeverReady(t *testing.T) {
	for _, mode := range []string{servetest.NeverReady, servetest.Hangs} {
		record := filepath.Join(t.TempDir(), "record")
		t.Setenv(servetest.LogVariable, record)
		err := start(t, mode, func(c *Config) { c.ReadyLimit = 300 * time.Millisecond }).end()
		var dead *BackendError
		if !errors.As(err, &dead) || dead.How != "was not ready after 300ms and was stopped" {
			t.Errorf("got %v", err)
		}
		wantGone(t, record)
	}
}

func TestBackendThatDiesWhileLoading(t *testing.T) {
	err := start(t, servetest.DiesLoading).end()
	var dead *BackendError
	if !errors.As(err, &dead) || dead.How != "exited with status 4" || !slices.Contains(dead.Tail, "out of device memory") {
		t.Errorf("got %v", err)
	}
}

func TestBackendThatDiesLater(t *testing.T) {
	r := start(t, servetest.DiesOnChat).up()
	if code, body := r.do("POST", "/v1/chat/completions", hello); code != 502 || !strings.Contains(body, `"message":"backend did not answer"`) {
		t.Errorf("%d %s", code, body)
	}
	err := r.end()
	var dead *BackendError
	if !errors.As(err, &dead) || dead.How != "exited with status 3" || !strings.Contains(err.Error(), "the roof is on fire") {
		t.Errorf("got %v", err)
	}
}

// TestBackendThatAnswersNonsense: its client gets an answer, or sees that there
// is no whole one, and the next request is served.
func TestBackendThatAnswersNonsense(t *testing.T) {
	r := start(t, servetest.Raw).up()
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for _, c := range []struct {
		name, raw string
		code      int
		body      string
	}{
		{"not HTTP", "SSH-2.0-x\r\n\r\nEND", 502, "backend did not answer"},
		{"no status that there is", "HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n", 502, "backend did not answer"},
		{"another protocol", "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", 502, "backend did not answer"},
		{"less than it says", head + "Content-Length: 50\r\n\r\n{END", 502, "backend did not answer"},
		{"more than it says", head + "Content-Length: 2\r\n\r\n{}{}", 200, "{}"},
		{"no JSON", head + "Content-Length: 5\r\n\r\n{[\u00ff[", 200, "{[\u00ff["},
		{"a large header", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 11<<20) + "\r\n\r\n", 502, "backend did not answer"},
	} {
		body, err := json.Marshal(map[string]any{"messages": []int{}, "raw": c.raw})
		if err != nil {
			t.Fatal(err)
		}
		if code, got := r.do("POST", "/v1/chat/completions", string(body)); code != c.code || !strings.Contains(got, c.body) || (c.body == "") != (got == "") {
			t.Errorf("%s: %d %.100q", c.name, code, got)
		}
	}
	if log := r.log.String(); strings.Contains(log, "panic") {
		t.Errorf("log: %s", log)
	}
}

// wantGone checks that the recorded backend, and what it left, has ended.
func wantGone(t *testing.T, record string) {
	t.Helper()
	r, err := servetest.ReadRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{r.PID, r.Fork} {
		if pid == 0 {
			continue
		}
		for i := 0; !gone(pid); i++ {
			if i == 200 {
				t.Errorf("process %d is still there", pid)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func TestStopWhileLoadingAndServing(t *testing.T) {
	for name, c := range map[string]struct {
		mode string
		wait bool
	}{
		"while it loads":            {servetest.NeverReady, false},
		"while it serves":           {"", true},
		"with something left by it": {servetest.Forks, true},
	} {
		record := filepath.Join(t.TempDir(), "record")
		t.Setenv(servetest.LogVariable, record)
		r := start(t, c.mode)
		if c.wait {
			r.up()
		} else if _, err := servetest.ReadRecord(record); err != nil {
			t.Fatal(err)
		}
		r.stop()
		if err := r.end(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantGone(t, record)
	}
}

func TestRequestUnderWayMayFinish(t *testing.T) {
	r := start(t, "").up()
	resp := r.open("POST", "/v1/chat/completions", `{"stream":true,"delay":100,"messages":[1]}`)
	defer resp.Body.Close()
	b := make([]byte, len(servetest.StreamParts[0]))
	resp.Body.Read(b)
	r.stop()
	rest := make([]byte, 4096)
	n := 0
	for {
		k, err := resp.Body.Read(rest[n:])
		n += k
		if err != nil {
			break
		}
	}
	if !strings.HasSuffix(string(rest[:n]), "data: [DONE]\n\n") {
		t.Errorf("the stream was cut: %q", rest[:n])
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, _, err = listen("127.0.0.1", port, System{})
	var busy *PortError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "is in use by another program: stop that one, or give another with --port") {
		t.Errorf("got %v", err)
	}
	for host, want := range map[string]string{
		"192.0.2.1":    "192.0.2.1 is no address of this machine: give another with --host",
		"host.invalid": "host.invalid is no known host name: give another with --host",
	} {
		if _, _, err := listen(host, 0, System{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", host, err)
		}
	}
	if l6, _, err := listen("[::1]", 0, System{}); err == nil { // not every machine has IPv6
		l6.Close()
	}
}

func TestBadModelsAndPrograms(t *testing.T) {
	dir := t.TempDir()
	cut := gguftest.Llama(1).Bytes()
	if err := os.WriteFile(filepath.Join(dir, "cut.gguf"), cut[:len(cut)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	model := func(path string) func(*Config) { return func(c *Config) { c.Request.Model = path } }
	var bad *gguf.Error
	if err := start(t, "", model(filepath.Join(dir, "cut.gguf"))).end(); !errors.As(err, &bad) || bad.Kind != gguf.Truncated {
		t.Errorf("cut off: %v", err)
	}
	if err := start(t, "", model(dir)).end(); !errors.As(err, &bad) || bad.Kind != gguf.NotGGUF {
		t.Errorf("a folder: %v", err)
	}
	if err := start(t, "", model(filepath.Join(dir, "absent"))).end(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	var missing *route.NotFound
	if err := start(t, "", func(c *Config) { c.Request.LlamaServer = filepath.Join(dir, "absent") }).end(); !errors.As(err, &missing) {
		t.Errorf("no program: %v", err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := start(t, "", func(c *Config) { c.Request.LlamaServer = text }).end()
	var dead *BackendError
	if !errors.As(err, &dead) || err.Error() != "the cpu backend text could not be started: "+syscall.ENOEXEC.Error() {
		t.Errorf("no program at all: %v", err)
	}
}
