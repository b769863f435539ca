// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Plan is what would be built from what: a graph with digests. Both runners
// work from it.
type Plan struct {
	Components []*PlannedComponent `json:"components"` // each after what it needs
}

// A PlannedComponent is one component of a plan. Where its key cannot be
// known, Why says what is missing.
type PlannedComponent struct {
	Recipe *Recipe   `json:"-"`
	Name   string    `json:"name"`
	CPU    CPU       `json:"cpu,omitempty"`
	Key    store.Key `json:"key,omitempty"`
	Inputs *Inputs   `json:"inputs,omitempty"`
	State  string    `json:"state"` // hit, miss, unknown
	Why    string    `json:"why,omitempty"`

	err error
}

// toBuild reports whether the component can be built and is not there.
func (c *PlannedComponent) toBuild() bool { return c.err == nil && c.State == StateMiss }

// The states of a planned component.
const (
	StateHit     = "hit"     // the store has it
	StateMiss    = "miss"    // it has to be built
	StateUnknown = "unknown" // an input has no digest yet
)

// PlanOptions say what to plan.
type PlanOptions struct {
	Context    context.Context // of the look at the machine's tools
	ToolMemory string          // a file that remembers those
	Set        *pins.Set
	Store      *store.Store
	Recipes    []*Recipe // each after those that it needs; nil: Recipes()
	CPU        CPU       // empty: each recipe's default
	Space      Space
	// Serve gives the inputs of what is built from this work tree.
	Serve func(*Recipe) (*Inputs, error)
}

// MakePlan plans the named components and what they need. An unknown name and
// a processor that a recipe does not name are usage errors; what a pin lacks
// is told in the plan.
func MakePlan(o PlanOptions, names ...string) (*Plan, error) {
	if o.Recipes == nil {
		o.Recipes = Recipes()
	}
	wanted := map[string]bool{}
	for _, name := range names {
		if err := o.want(name, wanted, nil); err != nil {
			return nil, err
		}
	}
	keys := map[string]store.Key{}
	p := &Plan{}
	for _, r := range o.Recipes {
		if !wanted[r.Name] {
			continue
		}
		c, err := o.component(r, keys)
		if err != nil {
			return nil, err
		}
		if c.Key != "" {
			keys[r.Name] = c.Key
		}
		p.Components = append(p.Components, c)
	}
	return p, nil
}

// want marks a recipe and what it needs, and refuses a circle.
func (o PlanOptions) want(name string, wanted map[string]bool, path []string) error {
	r, err := find(o.Recipes, name)
	if err != nil {
		return err
	}
	if slices.Contains(path, name) {
		return verdict.Failf("recipes need each other in a circle: %s", strings.Join(append(path, name), " -> "))
	}
	wanted[name] = true
	for _, need := range r.Needs {
		if err := o.want(need, wanted, append(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// component plans one recipe, whose needs are planned already.
func (o PlanOptions) component(r *Recipe, keys map[string]store.Key) (*PlannedComponent, error) {
	c := &PlannedComponent{Recipe: r, Name: r.Name, State: StateUnknown}
	cpu, err := r.cpu(o.CPU)
	if err != nil {
		return nil, err
	}
	c.CPU = cpu
	if r.WorkTree != "" {
		c.Inputs, c.err = o.Serve(r)
	} else {
		c.Inputs, c.err = o.inputs(r, cpu, keys)
	}
	if c.err == nil {
		c.Key, c.err = c.Inputs.Key()
	}
	if c.err == nil && r.Unavailable != "" {
		c.err = verdict.Infraf("recipe %s cannot be built here: %s", r.Name, r.Unavailable)
	}
	if c.err != nil {
		c.Why = c.err.Error()
	}
	if c.Key == "" {
		return c, nil
	}
	var absent *store.Absent
	switch _, err := o.Store.Get(c.Key); {
	case err == nil:
		c.State = StateHit
	case errors.As(err, &absent):
		c.State = StateMiss
	default:
		return nil, err
	}
	return c, nil
}

// cpu returns the processor to build for.
func (r *Recipe) cpu(asked CPU) (CPU, error) {
	if len(r.CPUs) == 0 {
		return "", nil
	}
	if asked == "" {
		return r.CPUs[0], nil
	}
	for _, c := range r.CPUs {
		if c == asked {
			return c, nil
		}
	}
	return "", verdict.Usagef("recipe %s is not built for %s: its toolchain builds for %v", r.Name, asked, r.CPUs)
}
