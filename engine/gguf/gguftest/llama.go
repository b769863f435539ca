// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguftest

import (
	"fmt"
	"math/rand/v2"
)

// The shape of the model that Llama returns.
const (
	layers  = 2
	width   = 128 // embedding length
	hidden  = 256 // feed-forward length
	heads   = 4
	context = 512
)

// Llama returns a model of the llama architecture with two layers, a
// vocabulary of about 300 tokens and random weights in F32, about 1.6 MB. What
// it says is noise, but llama.cpp loads and runs it as any other model. The
// same seed gives the same bytes.
func Llama(seed uint64) File {
	tokens, scores, types := vocabulary()
	vocab := uint64(len(tokens))
	f := File{KV: []KV{
		{"general.architecture", "llama"},
		{"general.name", "tiny"},
		{"general.file_type", uint32(0)},
		{"llama.block_count", uint32(layers)},
		{"llama.context_length", uint32(context)},
		{"llama.embedding_length", uint32(width)},
		{"llama.feed_forward_length", uint32(hidden)},
		{"llama.attention.head_count", uint32(heads)},
		{"llama.attention.head_count_kv", uint32(heads)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"llama.rope.dimension_count", uint32(width / heads)},
		{"llama.vocab_size", uint32(vocab)},
		{"tokenizer.ggml.model", "llama"},
		{"tokenizer.ggml.tokens", tokens},
		{"tokenizer.ggml.scores", scores},
		{"tokenizer.ggml.token_type", types},
		{"tokenizer.ggml.bos_token_id", uint32(1)},
		{"tokenizer.ggml.eos_token_id", uint32(2)},
		{"tokenizer.ggml.unknown_token_id", uint32(0)},
		{"tokenizer.chat_template", "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"},
	}}
	random := rand.New(rand.NewPCG(seed, 0))
	noise := func() float32 { return float32(random.NormFloat64() * 0.08) }
	one := func() float32 { return 1 }
	add := func(name string, next func() float32, shape ...uint64) {
		n := uint64(1)
		for _, d := range shape {
			n *= d
		}
		f.Tensors = append(f.Tensors, Tensor{Name: name, Shape: shape, Data: floats(n, next)})
	}
	add("token_embd.weight", noise, width, vocab)
	for i := range layers {
		block := func(name string) string { return fmt.Sprintf("blk.%d.%s.weight", i, name) }
		add(block("attn_norm"), one, width)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			add(block(name), noise, width, width)
		}
		add(block("ffn_norm"), one, width)
		add(block("ffn_gate"), noise, width, hidden)
		add(block("ffn_up"), noise, width, hidden)
		add(block("ffn_down"), noise, hidden, width)
	}
	add("output_norm.weight", one, width)
	add("output.weight", noise, width, vocab)
	return f
}

// vocabulary returns a SentencePiece vocabulary: three special tokens, the 256
// bytes, and the letters with and without a blank before them.
func vocabulary() (tokens []string, scores []float32, types []int32) {
	const normal, unknown, control, single = 1, 2, 3, 6
	add := func(token string, kind int32) {
		tokens = append(tokens, token)
		scores = append(scores, -float32(len(tokens)))
		types = append(types, kind)
	}
	add("<unk>", unknown)
	add("<s>", control)
	add("</s>", control)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), single)
	}
	add("▁", normal)
	for c := 'a'; c <= 'z'; c++ {
		add(string(c), normal)
		add("▁"+string(c), normal)
	}
	return tokens, scores, types
}

// Vocabulary returns a header without tensors whose vocabulary has n tokens,
// with scores, types and merges as real models have them.
func Vocabulary(n int) File {
	tokens, merges := make([]string, n), make([]string, n)
	scores, types := make([]float32, n), make([]int32, n)
	for i := range n {
		tokens[i] = fmt.Sprintf("▁tok%d", i)
		merges[i] = fmt.Sprintf("▁tok %d", i)
	}
	return File{KV: []KV{
		{"general.architecture", "llama"},
		{"tokenizer.ggml.model", "gpt2"},
		{"tokenizer.ggml.tokens", tokens},
		{"tokenizer.ggml.scores", scores},
		{"tokenizer.ggml.token_type", types},
		{"tokenizer.ggml.merges", merges},
		{"tokenizer.ggml.eos_token_id", uint32(2)},
	}}
}
