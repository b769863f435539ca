// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/engine/serve/servetest"
)

// reply is what the fake says of itself in an answer.
type reply struct {
	Model   string
	Args    string
	Request json.RawMessage
}

// chat asks and returns the answer, and the header that says how it was routed.
func (r *running) chat(content string) (reply, string) {
	r.t.Helper()
	body, err := json.Marshal(map[string]any{"model": "x", "messages": []map[string]string{{"role": "user", "content": content}}})
	if err != nil {
		r.t.Fatal(err)
	}
	resp := r.open("POST", "/v1/chat/completions", string(body))
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	var got reply
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil || resp.StatusCode != 200 {
		r.t.Fatalf("%d %s: %v", resp.StatusCode, b, err)
	}
	return got, resp.Header.Get(routeHeader)
}

// on returns the device of llama.cpp that a fake was started with.
func (r reply) on() string {
	for _, d := range []string{"Vulkan0", "ROCm0", "HRX0"} {
		if strings.Contains(r.Args, "--device "+d) {
			return d
		}
	}
	return "CPU"
}

// distribution makes a folder with the fake as every llama-server, and returns
// a change that uses it.
func distribution(t *testing.T) func(*Config) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, build := range []string{"vulkan/llama", "hrx/llama", "lean/llama-rocm"} {
		bin := filepath.Join(dir, filepath.FromSlash(build), "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(bin, "llama-server")); err != nil {
			t.Skipf("no symlinks here: %v", err)
		}
	}
	return func(c *Config) {
		c.Request.LlamaServer, c.Request.Device = "", devices.Vulkan
		c.Machine.Dir = dir
	}
}

func TestAdaptive(t *testing.T) {
	r := start(t, servetest.AllDevices, distribution(t), func(c *Config) { c.Request.Adaptive = true }).up()
	if got, note := r.chat("hi"); got.on() != "Vulkan0" || note != "" {
		t.Errorf("idle: %s %q", got.on(), note)
	}
	resp := r.open("POST", "/v1/chat/completions", `{"stream":true,"delay":600000,"messages":[1]}`) // holds Vulkan
	defer resp.Body.Close()
	for range 2 {
		if got, _ := r.chat("hi"); got.on() != "ROCm0" || !strings.Contains(got.Args, "-np 16") {
			t.Errorf("busy: %s", got.Args)
		}
	}
}

func TestLongConversations(t *testing.T) {
	rotated := gguftest.File{KV: []gguftest.KV{{Key: "onebit.hadamard_q4_0", Value: int32(32)}}}.Write(t, filepath.Join(t.TempDir(), "long.gguf"))
	r := start(t, servetest.AllDevices, distribution(t), func(c *Config) { c.Request.LongModel, c.Request.LongFrom = rotated, 20 }).up()
	if got, note := r.chat("short"); got.on() != "Vulkan0" || !strings.HasPrefix(note, "short ") || !strings.HasSuffix(note, " vulkan") {
		t.Errorf("short: %s %q", got.on(), note)
	}
	long := strings.Repeat("word ", 30)
	got, note := r.chat(long)
	if got.on() != "ROCm0" || !strings.HasPrefix(note, "long 3") || !strings.HasSuffix(note, " rocm") {
		t.Errorf("long: %s %q", got.on(), note)
	}
	// The choice holds for all of a conversation.
	body := fmt.Sprintf(`{"model":"x","messages":[{"role":"user","content":"short"},{"role":"assistant","content":%q},{"role":"user","content":%q}]}`, long, long)
	resp := r.open("POST", "/v1/chat/completions", body)
	resp.Body.Close()
	if note := resp.Header.Get(routeHeader); !strings.HasPrefix(note, "short ") {
		t.Errorf("the same conversation: %q", note)
	}
	resp = r.open("POST", "/v1/completions", `{"prompt":"`+strings.Repeat("a ", 25)+`"}`)
	resp.Body.Close()
	if note := resp.Header.Get(routeHeader); note != "long 25 rocm" {
		t.Errorf("a completion: %q", note)
	}
}

// TestLongWithoutTokenizer: bytes are counted where the backend does not.
func TestLongWithoutTokenizer(t *testing.T) {
	u := newUnit(route.Plan{}, &Config{})
	p := &longPicker{units: []*unit{u}}
	body := []byte(`{"messages":[{"role":"user","content":"0123456789"}]}`)
	if got := p.count(t.Context(), ask{body: body, talk: readConversation(body)}); got != len(body)/4 {
		t.Errorf("chat: %d", got)
	}
	body = []byte(`{"prompt":"0123456789"}`)
	if got := p.count(t.Context(), ask{body: body, talk: readConversation(body)}); got != 2 {
		t.Errorf("completion: %d", got)
	}
}

func TestModelsBeside(t *testing.T) {
	file := gguftest.File{}.Write(t, filepath.Join(t.TempDir(), "bge.gguf"))
	r := start(t, servetest.AllDevices, distribution(t), func(c *Config) { c.Request.Embed, c.Request.Rerank = file, file }).up()
	_, body := r.do("GET", "/v1/models", "")
	for _, want := range []string{`{"id":"tiny","object":"model","owned_by":"1bit","device":"vulkan"}`, `{"id":"bge","object":"model","owned_by":"1bit","device":"vulkan","role":"embedding"}`, `"role":"reranking"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s\nlacks %s", body, want)
		}
	}
	for path, want := range map[string]string{"/v1/embeddings": "--embedding", "/v1/rerank": "--reranking"} {
		if code, body := r.do("POST", path, `{"input":"x"}`); code != 200 || !strings.Contains(body, want) || !strings.Contains(body, `"model":"bge"`) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if len(r.status.Backends) != 3 || r.status.Backends[1].Role != "embedding" {
		t.Errorf("%+v", r.status.Backends)
	}
}

// layaScript is a daemon in Laya's protocol: what is about code is code, with
// doubts about what asks "maybe"; "stop" ends it.
const layaScript = `#!/bin/sh
[ "$1 $3" = "daemon --family" ] || exit 9
echo '{"status":"ready"}'
while read -r line; do
  case $line in
    *stop*) echo "out of memory" >&2; exit 1 ;;
    *maybe*) echo '{"answers":{"cls":{"choice":"code","confidence":0.05,"probabilities":{}}}}' ;;
    *function*) echo '{"answers":{"cls":{"choice":"code","confidence":0.912,"probabilities":{}}}}' ;;
    *) echo '{"answers":{"cls":{"choice":"short","confidence":0.5}}}' ;;
  esac
done
`

func TestLaya(t *testing.T) {
	dir := t.TempDir()
	script, model, policy := filepath.Join(dir, "laya"), filepath.Join(dir, "laya.gguf"), filepath.Join(dir, "policy.json")
	for path, text := range map[string]string{script: layaScript, model: "", policy: `{"min_confidence":0.16,"default":"vulkan","classes":{"code":{"device":"hrx"},"short":{"device":"vulkan"},"long_doc":{"device":"rocm"}}}`} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ONEBIT_LAYA_GGML", script)
	r := start(t, servetest.AllDevices, distribution(t), func(c *Config) {
		c.Request.Device, c.Request.Laya, c.Request.LayaModel, c.Request.RoutePolicy = devices.Auto, true, model, policy
	}).up()
	for _, b := range r.status.Backends {
		if b.Args != nil {
			t.Errorf("%s was started before it was needed", b.Device)
		}
	}
	if code, body := r.do("GET", "/health", ""); code != 200 {
		t.Errorf("health: %d %s", code, body)
	}
	for _, c := range []struct{ say, on, note string }{
		{"write a function", "HRX0", "code 0.91 hrx"},
		{"maybe a function", "Vulkan0", "code 0.05 vulkan"},
		{"the capital of France?", "Vulkan0", "short 0.50 vulkan"},
		{strings.Repeat("x", 1024), "ROCm0", "long_doc 1.00 rocm"},
		{"stop", "Vulkan0", "0.00 vulkan"},            // the classifier is gone: the default
		{"write a function", "HRX0", "code 0.91 hrx"}, // still known
	} {
		if got, note := r.chat(c.say); got.on() != c.on || note != c.note {
			t.Errorf("%.20q: %s %q, want %s %q", c.say, got.on(), note, c.on, c.note)
		}
	}
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

func TestLayaThatDoesNotStart(t *testing.T) {
	script := filepath.Join(t.TempDir(), "laya")
	for text, want := range map[string]string{
		"#!/bin/sh\nexit 3\n":           "it ended",
		"#!/bin/sh\necho hello\nread x": "it began with \"hello\", not with the status ready",
	} {
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := startScorer(t.Context(), &route.Scorer{Program: script}, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	os.WriteFile(script, []byte("#!/bin/sh\nread x\n"), 0o755)
	if _, err := startScorer(ctx, &route.Scorer{Program: script}, io.Discard); err == nil {
		t.Error("cancelled: no error")
	}
}

func TestConversations(t *testing.T) {
	key := func(body string) [32]byte { return readConversation([]byte(body)).key() }
	a := key(`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`)
	if a != key(`{"stream":true,"model":"m", "messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"x"},{"role":"user","content":"v"}]}`) {
		t.Error("a later request of the conversation has another key")
	}
	for _, other := range []string{
		`{"model":"n","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`,
		`{"model":"m","messages":[{"role":"system","content":"t"},{"role":"user","content":"u"}]}`,
		`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"w"}]}`,
		`{"model":"m","prompt":"u"}`, `{}`, `[]`,
	} {
		if a == key(other) {
			t.Errorf("%s has the same key", other)
		}
	}
	for body, want := range map[string]string{
		`{"prompt":"p"}`: "p", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]}]}`: "ab",
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"user","content":"v"}]}`: "u", `{}`: "",
	} {
		if got := readConversation([]byte(body)).text(); got != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	m := newMemory[int]()
	key := func(i int) (k [32]byte) { k[0], k[1], k[2] = byte(i), byte(i>>8), byte(i>>16); return k }
	for i := range remembered + 10 {
		m.put(key(i), i)
	}
	for i, want := range map[int]bool{0: false, 9: false, 10: true, remembered + 9: true} {
		if v, ok := m.get(key(i)); ok != want || (ok && v != i) {
			t.Errorf("%d: %d %v", i, v, ok)
		}
	}
	if len(m.value) != remembered || len(m.order) != remembered {
		t.Errorf("%d, %d", len(m.value), len(m.order))
	}
}

func TestRenameRequest(t *testing.T) {
	for _, c := range []struct {
		in   string
		r    route.Rename
		want string
	}{
		{`{"model":"a","n":1}`, route.Rename{}, `{"model":"a","n":1}`},
		{`{"model":"a","n":1}`, route.Rename{Drop: true}, `{"n":1}`},
		{`{"n":1}`, route.Rename{To: "o/n"}, `{"model":"o/n","n":1}`},
		{`[1]`, route.Rename{Drop: true}, `[1]`},
		{`null`, route.Rename{Drop: true}, `null`},
	} {
		if got := string(renameRequest([]byte(c.in), c.r)); got != c.want {
			t.Errorf("%s: %s", c.in, got)
		}
	}
}

// TestOtherPrograms: a device that is no llama-server answers text alone, and
// says so for the rest.
func TestOtherPrograms(t *testing.T) {
	f := &fleet{main: []*unit{newUnit(route.Plan{Device: devices.ZINC, Forward: route.AllForwards()[:2]}, &Config{})}}
	for path, want := range map[string]int{"/v1/chat/completions": 200, "/tokenize": 501, "/slots/3": 501, "/v1/embeddings": 501, "/nothing": 404} {
		w := &recorder{header: http.Header{}, code: 200}
		req, err := http.NewRequest("POST", path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := f.match(w, req); ok != (want == 200) || w.code != want {
			t.Errorf("%s: %d", path, w.code)
		}
		if want == 501 && !strings.Contains(w.body, path+" is not available on --device zinc") {
			t.Errorf("%s: %s", path, w.body)
		}
	}
}

// A recorder keeps an answer.
type recorder struct {
	header http.Header
	code   int
	body   string
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(code int)        { r.code = code }
func (r *recorder) Write(b []byte) (int, error) { r.body += string(b); return len(b), nil }
