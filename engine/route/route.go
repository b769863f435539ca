// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package route decides how a model is served: which device, which program,
// with which arguments and environment. It starts nothing but the programs'
// own answers about themselves (package ability).
//
// Devices are rows of one table (rows.go). A row says which models it takes,
// which program it needs, what to add to its command line and environment,
// where it shows that it is ready, what changes in a request, and what it
// refuses. A device whose program is not there is refused as "not in this
// build", with what would bring it.
package route

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

// A Plan is one program that will serve one model.
type Plan struct {
	Role    string       // "", or "embedding" or "reranking" for a model beside the main one
	Model   string       // path or id of the model
	Device  devices.Name // never auto
	Program string       // path of the program
	Args    []string     // the element PortAt stands for the port
	PortAt  int
	Env     []string // NAME=value to add; what the user set is not in it
	Ready   string   // path that answers 200 when the model is loaded
	Forward []Forward
	Rename  Rename
	Keyed   bool // it takes the key of its clients in LLAMA_API_KEY
	Notes   []string
}

// A Forward is one thing that a program answers itself.
type Forward struct {
	Method string
	Path   string // a pattern of http.ServeMux
	JSON   bool   // the request's body must be JSON; a reply's model is renamed
}

// A Rename is what becomes of the string "model" in a request.
type Rename struct {
	Drop bool   // it is left out
	To   string // it is replaced, when this is not empty
}

// portMark stands in Args until the port is known.
const portMark = "PORT"

// Argv returns the arguments with the port in its place.
func (p Plan) Argv(port int) []string {
	args := append([]string{}, p.Args...)
	args[p.PortAt] = strconv.Itoa(port)
	return args
}

// A Service is all that serves one command line.
type Service struct {
	Main  []Plan // one, or those among which Pick chooses
	RAG   []Plan // models for embedding and reranking beside the main one
	Pick  Pick
	Notes []string // what the user should know; lines without a full stop
}

// How a request finds one of several main programs.
type How string

// The ways to pick.
const (
	Single   How = ""         // there is one
	Adaptive How = "adaptive" // the first one until it is busy, then the least loaded other
	Long     How = "long"     // by the length of a conversation: short to the first, long to the second
	Laya     How = "laya"     // by the class of a conversation
)

// A Pick says how requests are shared among the main programs.
type Pick struct {
	How    How
	At     int     // Adaptive: requests at once on the first one
	From   int     // Long: tokens from which a conversation is long
	Policy Policy  // Laya
	Scorer *Scorer // Laya
}

// Alias returns the name under which a model is served when the user gave
// none: the name of its file or folder. Only .gguf and .1bp are left out.
func Alias(model string) string {
	name := filepath.Base(model)
	for _, ext := range []string{".gguf", ".1bp"} {
		if stem, ok := strings.CutSuffix(name, ext); ok {
			return stem
		}
	}
	return name
}

// A Refusal is a device that can not serve this request, with the reason.
type Refusal struct {
	Device devices.Name
	Reason string // a sentence for the user, without the device's name before it
}

func (r *Refusal) Error() string { return fmt.Sprintf("--device %s: %s", r.Device, r.Reason) }

// New returns how to serve what r asks for on the machine h.
func New(ctx context.Context, r Request, h Host) (Service, error) {
	if err := r.check(); err != nil {
		return Service{}, err
	}
	m, err := ReadModel(r.Model, r.Device)
	if err != nil {
		return Service{}, err
	}
	recipes, err := r.recipes()
	if err != nil {
		return Service{}, err
	}
	p := &planner{ctx: ctx, r: r, h: h, recipes: recipes}
	return p.service(m)
}

// A planner holds what all plans of one service share.
type planner struct {
	ctx     context.Context
	r       Request
	h       Host
	recipes []Recipe
	notes   []string
}

func (p *planner) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// service plans the main programs and those beside them.
func (p *planner) service(m Model) (Service, error) {
	device, err := p.device(m)
	if err != nil {
		return Service{}, err
	}
	if p.r.Laya && p.r.Device != devices.Auto {
		p.note("--laya only acts with --device auto")
		p.r.Laya = false
	}
	var s Service
	switch {
	case p.r.Laya:
		s, err = p.laya(m)
	case p.r.Adaptive:
		s, err = p.adaptive(m, device)
	case p.r.LongModel != "":
		s, err = p.long(m, device)
	default:
		var one Plan
		one, err = p.plan(m, device)
		s.Main = []Plan{one}
	}
	if err != nil {
		return Service{}, err
	}
	if s.RAG, err = p.beside(device); err != nil {
		return Service{}, err
	}
	s.Notes = p.notes
	for _, plan := range append(append([]Plan{}, s.Main...), s.RAG...) {
		s.Notes = append(s.Notes, plan.Notes...)
	}
	return s, nil
}

// plan returns the plan for one model on one device.
func (p *planner) plan(m Model, d devices.Name) (Plan, error) {
	row, err := rowOf(d)
	if err != nil {
		return Plan{}, err
	}
	if reason := row.takes(m); reason != "" {
		return Plan{}, &Refusal{d, reason}
	}
	if reason := p.r.refused(d); reason != "" {
		return Plan{}, errors.New(reason)
	}
	if row.refuse != nil {
		if reason := row.refuse(p.r, m); reason != "" {
			return Plan{}, &Refusal{d, reason}
		}
	}
	program, err := row.program(p.r, m).find(p.r, p.h, d)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Model: m.Path, Device: d, Program: program, Ready: "/health", Forward: row.forward, Rename: row.rename(m), Keyed: row.keyed}
	if err := row.build(p, m, &plan); err != nil {
		return Plan{}, err
	}
	return plan, nil
}

// missing returns the variables of env that the user has not set: a value that
// the user set always wins, also an empty one.
func missing(env []string, lookup func(string) (string, bool)) []string {
	var add []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if _, set := lookup(name); !set {
			add = append(add, kv)
		}
	}
	return add
}
