// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/route"
)

// routeHeader tells the client of a routed reply how it was routed.
const routeHeader = "X-1bit-Route"

// An ask is a request for text, as a picker sees it.
type ask struct {
	path string
	body []byte
	auth string // of the client
	talk conversation
}

// A picker chooses the program for a request. The number of requests under way
// on it is already raised when pick returns; note is for routeHeader.
type picker interface {
	pick(ctx context.Context, a ask) (u *unit, note string)
}

// newPicker returns the picker for how. For Laya it starts the classifier, and
// waits for it.
func newPicker(ctx context.Context, p route.Pick, units []*unit, c *Config) (picker, error) {
	switch p.How {
	case route.Adaptive:
		return &adaptivePicker{units: units, at: int64(p.At)}, nil
	case route.Long:
		return &longPicker{units: units, from: p.From, seen: newMemory[length]()}, nil
	case route.Laya:
		return newLayaPicker(ctx, p, units, c)
	}
	return single{units[0]}, nil
}

type single struct{ u *unit }

func (s single) pick(context.Context, ask) (*unit, string) {
	s.u.active.Add(1)
	return s.u, ""
}

// An adaptivePicker takes the first unit while it holds fewer than at
// requests, else the least loaded of the others.
type adaptivePicker struct {
	units []*unit
	at    int64
	mu    sync.Mutex // choosing and reserving are one step
}

func (p *adaptivePicker) pick(context.Context, ask) (*unit, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := p.units[0]
	if best.active.Load() >= p.at {
		best = p.units[1]
		for _, u := range p.units[2:] {
			if u.active.Load() < best.active.Load() {
				best = u
			}
		}
	}
	best.active.Add(1)
	return best, ""
}

// A longPicker sends a conversation by the length of its first request, and
// later ones of it to the same place: what is cached there stays useful.
type longPicker struct {
	units []*unit
	from  int
	seen  *memory[length]
}

// A length is how a conversation was judged.
type length struct {
	tokens int
	long   bool
}

func (p *longPicker) pick(ctx context.Context, a ask) (*unit, string) {
	key := a.talk.key()
	l, ok := p.seen.get(key)
	if !ok {
		l.tokens = p.count(ctx, a)
		l.long = l.tokens >= p.from
		p.seen.put(key, l)
	}
	u, word := p.units[0], "short"
	if l.long {
		u, word = p.units[1], "long"
	}
	u.active.Add(1)
	return u, fmt.Sprintf("%s %d %s", word, l.tokens, u.plan.Device)
}

// count returns the number of tokens of a prompt, asked of the first backend;
// a quarter of its bytes where that does not answer.
func (p *longPicker) count(ctx context.Context, a ask) int {
	text, body := a.talk.prompt(), []byte(nil)
	if a.talk.Messages != nil {
		templated, err := p.units[0].ask(ctx, "/apply-template", a.body, a.auth)
		var reply struct{ Prompt string }
		if err != nil || json.Unmarshal(templated, &reply) != nil {
			return len(a.body) / 4
		}
		text = reply.Prompt
	}
	body, _ = json.Marshal(map[string]any{"content": text})
	answer, err := p.units[0].ask(ctx, "/tokenize", body, a.auth)
	var reply struct{ Tokens []json.RawMessage }
	if err != nil || json.Unmarshal(answer, &reply) != nil || reply.Tokens == nil {
		return len(text) / 4
	}
	return len(reply.Tokens)
}

// A layaPicker sends a conversation by its class.
type layaPicker struct {
	units  []*unit
	have   []devices.Name
	policy route.Policy
	scorer *scorer
	seen   *memory[class]
	note   func(string)
}

// A class is what the classifier said, and where that led.
type class struct {
	name       string
	confidence float64
	unit       int
}

func newLayaPicker(ctx context.Context, p route.Pick, units []*unit, c *Config) (*layaPicker, error) {
	scorer, err := startScorer(ctx, p.Scorer, c.Log)
	if err != nil {
		return nil, err
	}
	l := &layaPicker{units: units, policy: p.Policy, scorer: scorer, seen: newMemory[class](), note: c.Note}
	for _, u := range units {
		l.have = append(l.have, u.plan.Device)
	}
	return l, nil
}

func (p *layaPicker) close() { p.scorer.close() }

func (p *layaPicker) pick(ctx context.Context, a ask) (*unit, string) {
	key := a.talk.key()
	c, ok := p.seen.get(key)
	if !ok {
		c.name, c.confidence = p.classify(ctx, a.talk.text())
		c.unit = p.policy.Choose(c.name, c.confidence, p.have)
		if c.name != "" {
			p.seen.put(key, c)
		}
	}
	u := p.units[c.unit]
	u.active.Add(1)
	return u, strings.TrimSpace(fmt.Sprintf("%s %.2f %s", c.name, c.confidence, u.plan.Device))
}

// classify returns the class of a text. Without an answer of the classifier
// there is none, and the policy's default holds.
func (p *layaPicker) classify(ctx context.Context, text string) (string, float64) {
	if len([]rune(text)) >= route.LongDocChars {
		return route.LongDoc, 1
	}
	name, confidence, err := p.scorer.classify(ctx, text)
	if err != nil {
		p.note("laya: " + err.Error())
		return "", 0
	}
	return name, confidence
}
