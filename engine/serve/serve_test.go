// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/engine/serve/servetest"
)

// TestMain: this binary is also the backend, when it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"-m", "--help", "--version", "--list-devices"}, os.Args[1]) || os.Getenv(servetest.ModeVariable) == "sleep" {
		servetest.Main()
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // a backend under the race detector would end a second late
	os.Exit(m.Run())
}

// A running is a server under test.
type running struct {
	t      *testing.T
	url    string
	status Status // once ready
	ready  chan struct{}
	stop   context.CancelFunc
	done   chan struct{}
	err    error
	log    *syncBuffer
	notes  *syncBuffer
}

// start runs a server on the fake backend in the given mode.
func start(t *testing.T, mode string, change ...func(*Config)) *running {
	t.Helper()
	t.Setenv(servetest.ModeVariable, mode)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, exe, gguftest.File{}, change...)
}

func startWith(t *testing.T, program string, file gguftest.File, change ...func(*Config)) *running {
	t.Helper()
	path := file.Write(t, filepath.Join(t.TempDir(), "tiny.gguf"))
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, ready: make(chan struct{}), stop: cancel, done: make(chan struct{}), log: &syncBuffer{}, notes: &syncBuffer{}}
	listening := make(chan struct{})
	c := Config{
		Request:   route.Request{Model: path, Device: devices.CPU, LlamaServer: program},
		Machine:   machine(),
		Host:      "127.0.0.1",
		Log:       r.log,
		Note:      func(s string) { r.notes.Write([]byte(s + "\n")) },
		Listening: func(s Status) { r.url = s.URL; close(listening) },
		Ready:     func(s Status) { r.status = s; close(r.ready) },
	}
	for _, f := range change {
		f(&c)
	}
	go func() {
		r.err = Run(ctx, c)
		close(r.done)
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	select {
	case <-listening:
	case <-r.done:
		select {
		case <-listening: // and ended at once
		default:
			t.Fatalf("ended before it listened: %v", r.err)
		}
	}
	return r
}

// machine is this one, without a memory of what programs can do: the fake is
// another one in each mode.
func machine() route.Host {
	h := route.ThisHost()
	h.Able = ability.Ask
	return h
}

// up waits until the model is loaded.
func (r *running) up() *running {
	r.t.Helper()
	select {
	case <-r.ready:
	case <-r.done:
		r.t.Fatalf("ended before it was ready: %v", r.err)
	case <-time.After(time.Minute):
		r.t.Fatalf("not ready after a minute; log:\n%s", r.log)
	}
	return r
}

// end waits for the end of Run.
func (r *running) end() error {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(time.Minute):
		r.t.Fatal("Run did not return in a minute")
	}
	return r.err
}

// do sends a request and returns status and body.
func (r *running) do(method, path, body string, header ...string) (int, string) {
	r.t.Helper()
	resp := r.open(method, path, body, header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (r *running) open(method, path, body string, header ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

const hello = `{"messages":[{"role":"user","content":"Hello"}]}`

func TestLoadsThenServes(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	t.Setenv(servetest.LogVariable, record)
	r := start(t, servetest.Slow)
	for _, path := range []string{"/health", "/v1/health"} {
		if code, body := r.do("GET", path, ""); code != 503 || body != `{"status":"loading"}`+"\n" {
			t.Errorf("%s while loading: %d %s", path, code, body)
		}
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/completions"} {
		if code, body := r.do("POST", path, hello); code != 503 || !strings.Contains(body, `"message":"model is loading"`) {
			t.Errorf("%s while loading: %d %s", path, code, body)
		}
	}
	if code, body := r.do("GET", "/v1/models", ""); code != 503 {
		t.Errorf("/v1/models while loading: %d %s", code, body)
	}
	r.up()
	for _, path := range []string{"/health", "/v1/health"} {
		if code, body := r.do("GET", path, ""); code != 200 || body != `{"status":"ok"}`+"\n" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	want := `{"data":[{"id":"tiny","object":"model","owned_by":"1bit","device":"cpu"}],"object":"list"}` + "\n"
	if code, body := r.do("GET", "/v1/models", ""); code != 200 || body != want {
		t.Errorf("/v1/models: %d %s", code, body)
	}
	got, err := servetest.ReadRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(got.Args, " ") != strings.Join(r.status.Args, " ") {
		t.Errorf("the backend got %q, Ready said %q", got.Args, r.status.Args)
	}
	if !strings.Contains(r.log.String(), "fake llama-server: loading\n") {
		t.Errorf("the backend's lines are not in the log: %s", r.log)
	}
	r.stop()
	if err := r.end(); err != nil {
		t.Errorf("stopped: %v", err)
	}
}

func TestAnswers(t *testing.T) {
	r := start(t, "", func(c *Config) { c.Alias = `my "model"` }).up()
	for _, c := range []struct {
		name, method, path, body string
		code                     int
		want                     string
	}{
		{"chat", "POST", "/v1/chat/completions", hello, 200, `{"id":"chatcmpl-1", "model":"my \"model\"", "object":"chat.completion","choices":[{"message":{"content":"Hello from /v1/chat/completions"}}],"usage":{"total_tokens":3},`},
		{"completion", "POST", "/v1/completions", `{"prompt":"x"}`, 200, `"model":"my \"model\""`},
		{"stream", "POST", "/v1/chat/completions", `{"stream":true,"messages":[1]}`, 200, strings.Join(servetest.StreamParts, "")},
		{"backend's own error", "POST", "/v1/chat/completions", `{}`, 400, `'messages' is required`},
		{"no JSON", "POST", "/v1/chat/completions", `{"messages":`, 400, `"message":"request body is not JSON"`},
		{"no body", "POST", "/v1/completions", ``, 400, `"message":"request body is not JSON"`},
		{"query", "GET", "/props?a=1%202", ``, 200, `"query":"a=1%202"`},
		{"unknown path", "GET", "/v2/models", ``, 404, `"type":"not_found_error"`},
		{"path that is not clean", "POST", "//v1/chat/completions", hello, 404, `"type":"not_found_error"`},
		{"wrong method", "GET", "/v1/chat/completions", ``, 405, `takes POST`},
		{"wrong method of ours", "POST", "/health", ``, 405, `takes GET`},
	} {
		code, body := r.do(c.method, c.path, c.body)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.name, code, body)
		}
		if strings.Contains(c.want, "data:") && body != c.want {
			t.Errorf("%s: the stream was changed:\n%s", c.name, body)
		}
	}
	resp := r.open("GET", "/props", "", "Origin", "http://evil.example")
	resp.Body.Close()
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("the backend's Access-Control-Allow-Origin %q came through", got)
	}
	if code, body := r.do("POST", "/v1/chat/completions", strings.Repeat(" ", requestLimit+1)); code != 413 {
		t.Errorf("too large: %d %s", code, body)
	}
}

func TestHTMLErrorsComeThrough(t *testing.T) {
	r := start(t, servetest.HTML).up()
	if code, body := r.do("POST", "/v1/chat/completions", hello); code != 500 || body != "<h1>500</h1>" {
		t.Errorf("%d %s", code, body)
	}
}

func TestStreamIsFlushedAtOnce(t *testing.T) {
	r := start(t, "").up()
	// The fake waits ten minutes after each part: only the first can come.
	resp := r.open("POST", "/v1/chat/completions", `{"stream":true,"delay":600000,"messages":[1]}`)
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	b := make([]byte, len(servetest.StreamParts[0]))
	if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != servetest.StreamParts[0] {
		t.Errorf("%q, %v", b, err)
	}
}

func TestBrokenStreamIsSeen(t *testing.T) {
	r := start(t, servetest.BreaksStream).up()
	resp := r.open("POST", "/v1/chat/completions", `{"stream":true,"messages":[1]}`)
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", b, err)
	}
}

// TestPrivatePort: nobody but serve gets an answer from the backend itself.
func TestPrivatePort(t *testing.T) {
	r := start(t, "").up()
	port := r.status.Args[slices.Index(r.status.Args, "--port")+1]
	resp, err := http.Post("http://127.0.0.1:"+port+"/v1/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("the backend answered a stranger with %d", resp.StatusCode)
	}
}

// TestUsersKeyWins: with LLAMA_API_KEY set, clients must send it themselves.
func TestUsersKeyWins(t *testing.T) {
	t.Setenv(keyVariable, "secret")
	r := start(t, "").up()
	if code, body := r.do("POST", "/v1/chat/completions", hello); code != 401 {
		t.Errorf("without the key: %d %s", code, body)
	}
	if code, body := r.do("POST", "/v1/chat/completions", hello, "Authorization", "Bearer secret"); code != 200 {
		t.Errorf("with the key: %d %s", code, body)
	}
}

func TestAutoAsksTheBackend(t *testing.T) {
	for mode, want := range map[string]devices.Name{
		servetest.WithVulkan: devices.Vulkan, servetest.OnlySoftware: devices.CPU, "": devices.CPU,
	} {
		r := start(t, mode, func(c *Config) { c.Request.Device = devices.Auto }).up()
		if r.status.Device != want {
			t.Errorf("%q: %s, want %s", mode, r.status.Device, want)
		}
		r.stop()
		if err := r.end(); err != nil {
			t.Error(err)
		}
	}
}

// TestClientThatLeaves: the backend stops working for a client that is gone.
func TestClientThatLeaves(t *testing.T) {
	r := start(t, "").up()
	resp := r.open("POST", "/v1/chat/completions", `{"stream":true,"delay":600000,"messages":[1]}`)
	if _, err := io.ReadFull(resp.Body, make([]byte, len(servetest.StreamParts[0]))); err != nil {
		t.Fatal(err)
	}
	if _, body := r.do("GET", "/slots", ""); body != `{"active":1}` {
		t.Fatalf("before: %s", body)
	}
	resp.Body.Close()
	for i := 0; ; i++ {
		_, body := r.do("GET", "/slots", "")
		if body == `{"active":0}` {
			return
		}
		if i == 500 {
			t.Fatalf("after 5 s: %s", body)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
