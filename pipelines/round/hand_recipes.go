// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// Feeds returns the recipes that a member that moves goes into, by itself or by
// way of what they need, in their order.
func (r *Round) Feeds(recipes []*build.Recipe) []*build.Recipe {
	of := build.PinsOf(recipes)
	var fed []*build.Recipe
	for _, x := range recipes {
		if slices.ContainsFunc(r.Moves(), func(m *Member) bool { return slices.Contains(of[x.Name], m.Pin) }) {
			fed = append(fed, x)
		}
	}
	return fed
}

// members collects what the members are, and what those that move were: gates
// compare both.
func (h *handing) members(ctx context.Context) error {
	for _, m := range h.round.Members {
		next, base := h.next.Pin(m.Pin), h.options.Base.Pin(m.Pin)
		h.pins = append(h.pins, next, base)
		if !m.Moves() {
			if base.State() == pins.Verified {
				if err := h.lacks(ctx, "what stays lacks "+m.Pin, h.source(ctx, base)); err != nil {
					return err
				}
			}
			continue
		}
		if next.State() == pins.Verified {
			if err := h.content(ctx, next); err != nil {
				return err
			}
		}
		if base.State() == pins.Verified {
			if err := h.content(ctx, base); err != nil {
				if ctx.Err() != nil {
					return err
				}
				h.left("what is locked now is not here any more: %s", err)
			}
		}
	}
	return nil
}

// content collects a pin's content and inputs.
func (h *handing) content(ctx context.Context, p *pins.Pin) error {
	entries, err := h.engine.Content(ctx, p)
	if err != nil {
		return err
	}
	h.add(entries...)
	inputs, err := h.engine.FetchInputs(ctx, p)
	if err != nil {
		return fmt.Errorf("pin %s: %w", p.Name, err)
	}
	h.add(inputs...)
	return nil
}

// source is content, with the tree that our patches make of it. It is for pins
// that stay: of one that moves the rebase says what that tree is.
func (h *handing) source(ctx context.Context, p *pins.Pin) error {
	if err := h.content(ctx, p); err != nil {
		return err
	}
	h.pins = append(h.pins, p)
	if p.Lock.Patched == nil || h.options.Stacks == nil {
		if !fetch.Archivable(p) {
			return nil
		}
		// A build looks for undeclared downloads in the repository, which may
		// not be here though the content is.
		_, _, err := h.engine.Downloads(ctx, p)
		return err
	}
	locked := &build.Locked{Engine: h.engine, Stacks: h.options.Stacks, Progress: h.engine.Progress}
	if _, err := locked.Source(ctx, p.Name); err != nil {
		return err
	}
	key, err := store.KeyOf(p.Lock.Patched.Sum)
	if err == nil {
		h.addKey(key)
	}
	return err
}

// recipes collects what the recipes that the group feeds are built from.
func (h *handing) recipes(ctx context.Context) error {
	fed := map[string]bool{}
	for _, x := range h.round.Feeds(h.options.Recipes) {
		fed[x.Name] = true
		h.handed.Recipes = append(h.handed.Recipes, x.Name)
	}
	outputs := h.outputs(ctx, fed)
	// From the last to the first, so that what is needed comes to be wanted
	// before it is looked at.
	wanted := map[string]bool{}
	for name := range fed {
		wanted[name] = true
	}
	for _, x := range slices.Backward(h.options.Recipes) {
		if !wanted[x.Name] {
			continue
		}
		if key, have := outputs[x.Name]; have {
			h.addKey(key) // it need not be built
			continue
		}
		for _, need := range x.Needs {
			wanted[need] = true
		}
		if x.Unavailable != "" {
			h.left("recipe %s cannot be built: %s", x.Name, x.Unavailable)
			continue
		}
		if err := h.recipe(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// outputs are what the store has of components that the group does not feed, by
// recipe.
func (h *handing) outputs(ctx context.Context, fed map[string]bool) map[string]store.Key {
	have := map[string]store.Key{}
	var names []string
	for _, x := range h.options.Recipes {
		if !fed[x.Name] && x.WorkTree == "" {
			names = append(names, x.Name)
		}
	}
	plan, err := build.MakePlan(build.PlanOptions{
		Context: ctx, Set: h.options.Base, Store: h.engine.Store, Recipes: h.options.Recipes,
		Serve: func(x *build.Recipe) (*build.Inputs, error) {
			return nil, verdict.Infraf("recipe %s is planned by who builds it", x.Name)
		},
	}, names...)
	if err != nil {
		h.left("what the store has of components is not known: %s", err)
		return have
	}
	for _, c := range plan.Components {
		if c.State == build.StateHit && h.engine.Store.Intact(c.Key) {
			have[c.Name] = c.Key
		}
	}
	return have
}

// lacks takes an error about something that does not move. It stops nothing
// here, where no other try would bring it: what needs it will say so.
func (h *handing) lacks(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || verdict.Of(err) == verdict.Infra:
		return fmt.Errorf("%s: %w", what, err)
	}
	h.left("%s: %s", what, err)
	return nil
}

// recipe collects sources and toolchain of one recipe.
func (h *handing) recipe(ctx context.Context, x *build.Recipe) error {
	lacks := func(what string, err error) error { return h.lacks(ctx, "recipe "+x.Name+" lacks "+what, err) }
	for _, name := range x.Pins {
		if h.moves(name) {
			continue // members did it
		}
		p, err := build.Verified(h.next, name)
		if err == nil {
			err = h.source(ctx, p)
		}
		if err := lacks(name, err); err != nil {
			return err
		}
	}
	if err := lacks("its toolchain", h.toolchain(ctx, x.Toolchain)); err != nil {
		return err
	}
	if x.WorkTree == "" {
		return nil
	}
	return lacks("the Go modules", h.modules(ctx))
}

func (h *handing) moves(pin string) bool {
	return slices.ContainsFunc(h.round.Moves(), func(m *Member) bool { return m.Pin == pin })
}

func (h *handing) toolchain(ctx context.Context, name string) error {
	p, err := build.Verified(h.next, name)
	if err != nil {
		return err
	}
	if _, err := toolchain.Fetch(ctx, h.engine.Store, h.engine, p, h.engine.Progress); err != nil {
		return err
	}
	sum, err := toolchain.Sum(p)
	if err != nil {
		return err
	}
	key, err := store.KeyOf(sum)
	if err == nil {
		h.addKey(key)
	}
	return err
}

// modules fills the module cache as far as the go command needs it to go on by
// itself, offline.
func (h *handing) modules(ctx context.Context) error {
	dir := filepath.Join(h.folder.Cache(), "go", "mod", "cache", "download")
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	if h.options.Modules != nil {
		return h.options.Modules(ctx, dir)
	}
	if h.options.Stacks == nil {
		return verdict.Failf("nobody said where this repository is")
	}
	var files [2][]byte
	for i, name := range []string{"go.mod", "go.sum"} {
		var err error
		if files[i], err = os.ReadFile(filepath.Join(h.options.Stacks.Root, name)); err != nil {
			return err
		}
	}
	return toolchain.DownloadModules(ctx, "this repository", files[0], files[1], dir, h.engine.Progress)
}
