// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
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
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
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
