// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"
)

// A conversation is what tells one from another in a request for text.
type conversation struct {
	Model    json.RawMessage   `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Prompt   json.RawMessage   `json:"prompt"`
}

// A message is what is read of one.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// readConversation reads a body; what can not be read is left empty.
func readConversation(body []byte) (c conversation) {
	json.Unmarshal(body, &c)
	return c
}

// opening returns the messages up to and including the first of the user:
// those that all requests of one conversation share.
func (c conversation) opening() []message {
	var list []message
	for _, raw := range c.Messages {
		var m message
		json.Unmarshal(raw, &m) // one that is none is empty
		list = append(list, m)
		if m.Role == "user" {
			break
		}
	}
	return list
}

// key identifies the conversation: its model and how it begins.
func (c conversation) key() [32]byte {
	b, err := json.Marshal([]any{c.Model, c.opening(), c.Prompt})
	if err != nil {
		return [32]byte{}
	}
	return sha256.Sum256(b)
}

// prompt returns the prompt of a completion where it is a string.
func (c conversation) prompt() string {
	var s string
	if json.Unmarshal(c.Prompt, &s) != nil {
		return string(c.Prompt)
	}
	return s
}

// text returns what the user says first.
func (c conversation) text() string {
	list := c.opening()
	if len(list) == 0 {
		return c.prompt()
	}
	m := list[len(list)-1]
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// remembered is how many conversations are kept.
const remembered = 4096

// A memory keeps a value for each of the newest conversations.
type memory[V any] struct {
	mu    sync.Mutex
	value map[[32]byte]V
	order [][32]byte // a ring, the oldest at next
	next  int
}

func newMemory[V any]() *memory[V] {
	return &memory[V]{value: map[[32]byte]V{}}
}

func (m *memory[V]) get(key [32]byte) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.value[key]
	return v, ok
}

// put keeps a value; that of the oldest conversation goes when there are too
// many.
func (m *memory[V]) put(key [32]byte, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, have := m.value[key]; !have {
		if len(m.order) < remembered {
			m.order = append(m.order, key)
		} else {
			delete(m.value, m.order[m.next])
			m.order[m.next] = key
			m.next = (m.next + 1) % remembered
		}
	}
	m.value[key] = v
}
