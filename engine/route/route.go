// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package route decides how a model is served: which device, which program,
// with which arguments and environment. It starts nothing but, for the device
// "auto", the program's own list of devices.
//
// Devices are rows of one table (rows.go). A row says which models it takes,
// which program it needs, what to add to its command line and environment,
// where it shows that it is ready, and what it refuses. A device without a row
// is refused by name.
package route

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf"
)

// A Request is what the user asked for, from the command line.
type Request struct {
	Model       string // path of the model file
	Device      devices.Name
	CtxSize     int    // tokens; 0: the program's default
	Parallel    int    // slots; 0: the program's default
	FlashAttn   string // on, off, auto; empty: the program's default
	Embedding   bool
	Reranking   bool
	LlamaServer string // path or name; empty: look for it
}

// A Model is what the choice depends on.
type Model struct {
	Path   string
	Header *gguf.Header // of the first file
}

// ReadModel reads the headers of the model at path.
func ReadModel(path string) (Model, error) {
	headers, err := gguf.ReadModel(path)
	if err != nil {
		return Model{}, err
	}
	return Model{Path: path, Header: headers[0]}, nil
}

// A Plan is how the model will be served.
type Plan struct {
	Device  devices.Name
	Program string   // path of the program
	Args    []string // without --host and --port, which the caller knows
	Env     []string // NAME=value to add; what the user set is not in it
	Ready   string   // path that answers 200 when the model is loaded
	Forward []Forward
}

// A Forward is one thing that the program answers itself.
type Forward struct {
	Method string
	Path   string // a pattern of http.ServeMux
	JSON   bool   // the request's body must be JSON; a reply's model is renamed
}

// Address returns the arguments that tell the program where to listen.
func Address(port int) []string {
	return []string{"--host", "127.0.0.1", "--port", strconv.Itoa(port)}
}

// Alias returns the name under which a model is served when the user gave
// none: the name of its file without .gguf.
func Alias(model string) string {
	return strings.TrimSuffix(filepath.Base(model), ".gguf")
}

// A Refusal is a device that can not serve this request, with the reason.
type Refusal struct {
	Device devices.Name
	Reason string // a sentence for the user, without the device's name before it
}

func (r *Refusal) Error() string { return fmt.Sprintf("--device %s: %s", r.Device, r.Reason) }

// New returns the plan for serving m as asked in r, on the machine h.
func New(ctx context.Context, r Request, m Model, h Host) (Plan, error) {
	if err := r.check(); err != nil {
		return Plan{}, err
	}
	if r.Device == devices.Auto {
		d, err := auto(ctx, r, h)
		if err != nil {
			return Plan{}, err
		}
		r.Device = d
	}
	row, err := rowOf(r.Device)
	if err != nil {
		return Plan{}, err
	}
	for _, refuse := range row.refuse {
		if reason := refuse(r, m); reason != "" {
			return Plan{}, &Refusal{r.Device, reason}
		}
	}
	program, err := row.program.find(r, h)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Device:  r.Device,
		Program: program,
		Args:    row.args(r, m),
		Env:     missing(row.env, h.Getenv),
		Ready:   row.ready,
		Forward: row.forward,
	}, nil
}

// check refuses what no device can do.
func (r Request) check() error {
	switch {
	case r.CtxSize < 0:
		return fmt.Errorf("--ctx-size %d: give a number of tokens, or 0 for the model's own", r.CtxSize)
	case r.Parallel < 0:
		return fmt.Errorf("--parallel %d: give a number of requests, or 0 for the program's own", r.Parallel)
	case r.Embedding && r.Reranking:
		return fmt.Errorf("--embedding and --reranking are two uses of a model; pick one")
	case r.FlashAttn != "" && r.FlashAttn != "on" && r.FlashAttn != "off" && r.FlashAttn != "auto":
		return fmt.Errorf("--flash-attn %s: give on, off or auto", r.FlashAttn)
	}
	return nil
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
