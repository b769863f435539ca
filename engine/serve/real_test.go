// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/internal/parts"
)

// TestRealLlamaServer serves a tiny model with random weights through a real
// llama-server. Only the form of what it says is looked at: the words are
// noise.
func TestRealLlamaServer(t *testing.T) {
	r := startWith(t, parts.Need(t, "llama-server").Path, gguftest.Llama(1), func(c *Config) {
		c.Alias = "tiny-random"
		c.Request.Device = devices.CPU
		c.Request.CtxSize = 256
		c.Restart, c.RestartMin = 1, 10*time.Millisecond
	}).up()

	code, body := r.do("POST", "/v1/chat/completions", `{"max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`)
	var reply struct {
		Model   string
		Choices []struct{ Message struct{ Role string } }
		Usage   struct {
			PromptTokens     int `json:"prompt_tokens"`
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &reply); err != nil || code != 200 {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	if reply.Model != "tiny-random" || len(reply.Choices) != 1 || reply.Choices[0].Message.Role != "assistant" {
		t.Errorf("reply %s", body)
	}
	if reply.Usage.PromptTokens < 5 || reply.Usage.CompletionTokens < 1 || reply.Usage.CompletionTokens > 4 {
		t.Errorf("usage %+v", reply.Usage)
	}

	code, body = r.do("POST", "/v1/completions", `{"max_tokens":4,"prompt":"hi","stream":true}`)
	if code != 200 || !strings.HasPrefix(body, "data: {") || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("stream: %d %s", code, body)
	}
	if code, body = r.do("POST", "/v1/chat/completions", `{}`); code != 400 || !strings.Contains(body, "invalid_request_error") {
		t.Errorf("its own error: %d %s", code, body)
	}
	if code, body = r.do("POST", "/tokenize", `{"content":"abc"}`); code != 200 || !strings.Contains(body, "tokens") {
		t.Errorf("tokenize: %d %s", code, body)
	}
	killBackend(t, r)
	if code, body = r.do("POST", "/v1/completions", `{"max_tokens":2,"prompt":"hi"}`); code != 200 {
		t.Errorf("after a restart: %d %s", code, body)
	}
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// TestRealVulkan: the same through Vulkan, on a driver that needs no GPU and
// that is believed because it is allowed. Drained with a stream under way,
// killed, and started again.
func TestRealVulkan(t *testing.T) {
	program, driver := parts.Need(t, "llama-server").Path, parts.Need(t, "lavapipe").Path
	t.Setenv("VK_DRIVER_FILES", driver)
	t.Setenv("GGML_VK_VISIBLE_DEVICES", "0")
	vulkan := func(c *Config) { c.Request.Device, c.Request.CtxSize = devices.Vulkan, 256 }

	err := startWith(t, program, gguftest.Llama(1), vulkan).end()
	var refusal *route.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "llvmpipe") || !strings.Contains(err.Error(), "is no GPU") {
		t.Fatalf("not allowed: %v", err)
	}
	r := startWith(t, program, gguftest.Llama(1), vulkan, func(c *Config) {
		c.Request.SoftwareGPU, c.Restart, c.RestartMin = true, 1, 10*time.Millisecond
	}).up()
	ask := func() {
		t.Helper()
		if code, body := r.do("POST", "/v1/chat/completions", `{"max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`); code != 200 || !strings.Contains(body, `"model":"tiny"`) {
			t.Errorf("%d %s", code, body)
		}
	}
	ask()
	if code, body := r.do("GET", "/v1/models", ""); code != 200 || !strings.Contains(body, `"device":"vulkan"`) {
		t.Errorf("%d %s", code, body)
	}
	killBackend(t, r)
	r.until("/health", 200, `{"status":"ok"}`)
	ask()
	resp := r.open("POST", "/v1/completions", `{"max_tokens":64,"ignore_eos":true,"prompt":"hi","stream":true}`)
	defer resp.Body.Close()
	r.stop()
	if b, err := io.ReadAll(resp.Body); err != nil || !strings.HasSuffix(string(b), "data: [DONE]\n\n") {
		t.Errorf("drain: %.200q, %v", b, err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// killBackend kills the program behind a server and waits until that is seen.
func killBackend(t *testing.T, r *running) {
	t.Helper()
	port := r.status.Args[slices.Index(r.status.Args, "--port")+1]
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		b, _ := os.ReadFile(path)
		if !strings.Contains(string(b), "\x00--port\x00"+port+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			if strings.Contains(r.notes.String(), "is ready again") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("not ready again in 30 s; log:\n%s", r.log)
	}
	t.Fatalf("no process has --port %s", port)
}

// TestRealLlamaServerRefusesAModel: what a real one says when it can not load
// a model is in the error.
func TestRealLlamaServerRefusesAModel(t *testing.T) {
	file := gguftest.File{KV: []gguftest.KV{{Key: "general.architecture", Value: "nonesuch"}}}
	err := startWith(t, parts.Need(t, "llama-server").Path, file).end()
	if err == nil || !strings.Contains(err.Error(), "exited with status 1; its last lines:") || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("got %v", err)
	}
}
