// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// A Workshop plans, builds, explains and reproduces components of one work
// tree. It must be closed.
type Workshop struct {
	options Options
	engine  *fetch.Engine
	live    io.Writer
	cpu     CPU
	space   Space
	recipes []*Recipe

	tree   *workTree
	done   func()
	runner Runner
}

// WorkshopOptions say how to build.
type WorkshopOptions struct {
	Serve  Options // of the program 1bit, and the folder for all
	Engine *fetch.Engine
	Live   io.Writer // gets what the steps print, as it comes; nil: nobody does
	CPU    CPU
	Space  Space
	// Recipes are those that there are, each after those that it needs; nil:
	// Recipes().
	Recipes []*Recipe
}

// NewWorkshop returns a Workshop.
func NewWorkshop(o WorkshopOptions) *Workshop {
	recipes := o.Recipes
	if recipes == nil {
		recipes = Recipes()
	}
	return &Workshop{options: o.Serve, engine: o.Engine, live: o.Live, cpu: o.CPU, space: o.Space, recipes: recipes}
}

// Close removes what the workshop copied.
func (w *Workshop) Close() {
	if w.done != nil {
		w.done()
	}
}

// Names returns the names of all components.
func (w *Workshop) Names() []string {
	var names []string
	for _, r := range w.recipes {
		names = append(names, r.Name)
	}
	return names
}

// Plan plans components and what they need.
func (w *Workshop) Plan(ctx context.Context, names ...string) (*Plan, error) {
	return MakePlan(PlanOptions{
		Context: ctx, ToolMemory: w.options.Cache.path("state", "host-tools.json"),
		Set: w.engine.Set, Store: w.engine.Store, Recipes: w.recipes, CPU: w.cpu, Space: w.space,
		Serve: func(r *Recipe) (*Inputs, error) { return w.serveInputs(ctx, r) },
	}, names...)
}

// serveInputs are what the program 1bit would be built from now.
func (w *Workshop) serveInputs(ctx context.Context, r *Recipe) (*Inputs, error) {
	if w.tree == nil {
		o := w.options
		tree := &workTree{repo: o.Repo, pkg: servePackage, pin: o.Go, cache: o.Cache, store: w.engine.Store, p: o.Progress, offline: o.Offline}
		done, err := tree.prepare(ctx)
		if err != nil {
			return nil, err
		}
		w.tree, w.done = tree, done
	}
	space := w.space
	if space == HostTools {
		space = Sandboxed // it has no other tools than the pinned Go
	}
	return w.tree.inputs(r, space), nil
}

// builder returns what builds here.
func (w *Workshop) builder(ctx context.Context) (*Builder, error) {
	runner, err := w.makeRunner(ctx)
	if err != nil {
		return nil, err
	}
	stacks, err := patches.Open(ctx, w.options.Repo)
	if err != nil {
		return nil, err
	}
	return &Builder{
		Store: w.engine.Store, Cache: w.options.Cache, Runner: runner, Live: w.live, Progress: w.options.Progress,
		Provider: &Locked{Engine: w.engine, Stacks: stacks, Progress: w.options.Progress},
		Paranoid: w.options.Paranoid, Remote: w.options.Remote, tree: w.tree,
	}, nil
}

// makeRunner returns the runner, the same one each time. Where it has another key
// space than was asked for, that is the workshop's from now on.
func (w *Workshop) makeRunner(ctx context.Context) (Runner, error) {
	if w.runner != nil {
		return w.runner, nil
	}
	var err error
	if w.options.Runner != nil {
		w.runner, err = w.options.Runner(ctx, w.space)
	} else {
		w.runner, err = NewHostRunner(ctx, w.space)
	}
	if err != nil {
		w.runner = nil
		return nil, err
	}
	w.space = w.runner.Space()
	return w.runner, nil
}

// planToBuild plans, and plans again where the runner that builds has another
// key space than was thought.
func (w *Workshop) planToBuild(ctx context.Context, names ...string) (*Plan, error) {
	for {
		plan, err := w.Plan(ctx, names...)
		if err != nil || !slices.ContainsFunc(plan.Components, (*PlannedComponent).toBuild) {
			return plan, err
		}
		space := w.space
		if _, err := w.makeRunner(ctx); err != nil {
			return nil, err
		}
		if w.space == space {
			return plan, nil
		}
	}
}

// A Made component is one of those that were asked for, or that these need.
type Made struct {
	*Built
	Name    string          `json:"name"`
	View    string          `json:"view,omitempty"` // the folder, or the archive of the program 1bit
	Log     string          `json:"log,omitempty"`  // the file with all that its steps printed, where some ran
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"`
}

// Build builds components and what they need, and shows each in the output
// folder. One that cannot be built does not keep the others from it.
func (w *Workshop) Build(ctx context.Context, names ...string) ([]Made, error) {
	var all []Made
	others := names[:0:0]
	for _, name := range names {
		if name == "serve" {
			all = append(all, w.serve(ctx))
		} else {
			others = append(others, name)
		}
	}
	plan, err := w.planToBuild(ctx, others...)
	if err != nil {
		return all, err
	}
	var b *Builder
	made := map[string]*Built{}
	for _, c := range plan.Components {
		if b == nil && c.toBuild() {
			if b, err = w.builder(ctx); err != nil {
				return all, err
			}
		}
		m := w.one(ctx, b, c, made)
		all = append(all, m)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
	}
	return all, nil
}

// serve builds and packs the program 1bit.
func (w *Workshop) serve(ctx context.Context) Made {
	r, err := Serve(ctx, w.options)
	if err != nil {
		return Made{Name: "serve", Verdict: verdict.Of(err), Why: err.Error()}
	}
	return Made{
		Built: &Built{Name: "serve", Key: r.Key, Sum: r.Component, Size: r.Size, Hit: r.Hit || r.UpToDate, From: r.From},
		Name:  "serve", View: r.Archive, Verdict: verdict.Pass,
	}
}

func (w *Workshop) one(ctx context.Context, b *Builder, c *PlannedComponent, made map[string]*Built) Made {
	m := Made{Name: c.Name, Verdict: verdict.Pass}
	err := c.err
	for _, need := range c.Recipe.Needs {
		if made[need] == nil && err == nil {
			err = verdict.Infraf("it needs %s, which was not built", need)
		}
	}
	if err == nil {
		if b == nil {
			b = &Builder{Store: w.engine.Store, Cache: w.options.Cache, Progress: w.options.Progress, Remote: w.options.Remote} // the store has it
		}
		m.Built, err = b.one(ctx, c, made)
	}
	if err == nil {
		made[c.Name] = m.Built
		m.Log = filepath.Join(filepath.Dir(m.Built.Path), "log.txt")
		m.View = filepath.Join(w.options.Out, c.Name)
		err = w.show(m.Built, m.View)
	}
	if err != nil {
		m.Verdict, m.Why = verdict.Of(err), err.Error()
		var step *StepError
		if errors.As(err, &step) {
			m.Log = step.Log
		}
		// Nothing was tried where an input is not there to be had.
		if c.err != nil && (c.Recipe.Unavailable != "" || m.Verdict == verdict.Fail) {
			m.Verdict = verdict.Skipped
		}
	}
	return m
}

func (w *Workshop) show(b *Built, dir string) error {
	e, err := w.engine.Store.Get(b.Key)
	if err != nil {
		return err
	}
	files, err := w.engine.Store.Files(b.Key)
	if err != nil {
		return err
	}
	return view(e, files, dir)
}

// Explain says why a component would be built.
func (w *Workshop) Explain(ctx context.Context, name string) (*PlannedComponent, *store.Entry, []Change, error) {
	plan, err := w.Plan(ctx, name)
	if err != nil {
		return nil, nil, nil, err
	}
	c := plan.Components[len(plan.Components)-1]
	last, changes, err := Explain(w.engine.Store, c)
	return c, last, changes, err
}

// Reproduce builds a component twice and compares; what it needs is built
// first.
func (w *Workshop) Reproduce(ctx context.Context, name string) (*Reproduction, error) {
	plan, err := w.planToBuild(ctx, name)
	if err != nil {
		return nil, err
	}
	b, err := w.builder(ctx)
	if err != nil {
		return nil, err
	}
	made := map[string]*Built{}
	last := len(plan.Components) - 1
	for _, c := range plan.Components[:last] {
		if made[c.Name], err = b.one(ctx, c, made); err != nil {
			return nil, fmt.Errorf("what %s needs: %w", name, err)
		}
	}
	return b.Reproduce(ctx, plan.Components[last], made)
}
