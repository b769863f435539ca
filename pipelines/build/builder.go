// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Provider brings what goes into a build: folders and files that are in the
// store, verified against the locks.
type Provider interface {
	// Source returns the folder of a pin's tree, with our patches on it.
	Source(ctx context.Context, pin string) (string, error)
	// Input returns the folder or file of one of a pin's inputs.
	Input(ctx context.Context, pin, name string) (string, error)
	// Toolchain returns the folder of a toolchain pin: a root file system,
	// or for the pin go its GOROOT.
	Toolchain(ctx context.Context, pin string) (string, error)
}

// A Builder builds the components of a plan.
type Builder struct {
	Store    *store.Store
	Cache    Cache
	Runner   Runner
	Provider Provider
	Progress *progress.Reporter
	Live     io.Writer // gets the log as it comes; nil: nobody does
	CPUs     int       // that a step may use; 0: all
	Remote   Remote    // is asked for what the store lacks; nil: nobody is

	Paranoid bool // read again what the store has, and build it anew when it is damaged

	tree *workTree // what the recipe serve is built from

}

// A Built component lies in the store.
type Built struct {
	Name  string       `json:"name"`
	Key   store.Key    `json:"key"`
	Sum   string       `json:"sum"` // t1: of the component's files
	Size  int64        `json:"size"`
	Space Space        `json:"space,omitempty"`
	Hit   bool         `json:"hit"`
	From  string       `json:"from,omitempty"` // the remote cache that it was pulled from just now
	Steps []StepResult `json:"steps,omitempty"`
	Path  string       `json:"path"`
}

// Build builds the components of a plan in order, as far as the store does not
// have them.
func (b *Builder) Build(ctx context.Context, p *Plan) ([]*Built, error) {
	made := map[string]*Built{}
	var all []*Built
	for _, c := range p.Components {
		built, err := b.one(ctx, c, made)
		if err != nil {
			return all, err
		}
		made[c.Name] = built
		all = append(all, built)
	}
	return all, nil
}

// one builds one component, whose needs are made.
func (b *Builder) one(ctx context.Context, c *PlannedComponent, made map[string]*Built) (*Built, error) {
	if c.err != nil {
		return nil, c.err
	}
	built := &Built{Name: c.Name, Key: c.Key, Space: c.Inputs.Space, Hit: true}
	inputs, err := json.Marshal(c.Inputs)
	if err != nil {
		return nil, err
	}
	if b.Paranoid {
		if err := b.distrust(ctx, c.Key); err != nil {
			return nil, err
		}
	}
	meta := map[string]string{"recipe": c.Name, "space": string(c.Inputs.Space), "inputs": string(inputs)}
	e, err := b.Store.Put(ctx, c.Key, store.Maker{
		Kind: "output",
		Name: c.Name,
		Meta: meta,
		Fill: func(ctx context.Context, dir string) error {
			built.Hit = false
			if from, ok := b.pull(ctx, c, dir); ok {
				built.From, meta[originMeta] = from, from
				return nil
			}
			b.Progress.Step("building %s", c.Name)
			var err error
			built.Steps, err = b.fill(ctx, c, made, dir)
			return err
		},
		Check: func(string, string) error { return nil }, // the key is what went in
	})
	if err != nil {
		return nil, err
	}
	built.Sum, built.Size, built.Path = e.Sum, e.Size, e.Path
	offer(ctx, b.Remote, b.Store, c.Key)
	return built, nil
}

// distrust reads an entry again and removes it when it is not as it was.
func (b *Builder) distrust(ctx context.Context, key store.Key) error {
	if _, err := b.Store.Get(key); err != nil {
		return nil // absent; or damaged, which Put finds
	}
	if d := b.Store.Verify(key); d != nil {
		b.Progress.Step("%s is damaged in the store (%s): building it again", key, strings.Join(d.Why, "; "))
		return b.Store.Remove(ctx, key)
	}
	return nil
}

// fill runs the recipe's steps and leaves the component at dir, with the log
// and the steps' figures beside it.
func (b *Builder) fill(ctx context.Context, c *PlannedComponent, made map[string]*Built, dir string) ([]StepResult, error) {
	job, err := b.job(ctx, c, made)
	if err != nil {
		return nil, err
	}
	beside := filepath.Dir(dir)
	job.Work, job.Out = filepath.Join(beside, "work"), filepath.Join(beside, "out")
	root := filepath.Join(beside, "root")
	for _, d := range []string{job.Work, job.Out, root} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return nil, err
		}
	}
	if c.Recipe.WorkTree != "" && c.Inputs.Space != NoSandbox || c.Recipe.Toolchain == goToolchain && c.Inputs.Space == Sandboxed {
		job.Root = root // Go needs nothing but the mounts
	}
	log, err := b.log(c)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	job.Log = io.Writer(log)
	if b.Live != nil {
		job.Log = io.MultiWriter(log, b.Live)
	}
	steps, err := b.Runner.Run(ctx, *job)
	if err != nil {
		return steps, b.explain(err, log)
	}
	if err := checkOutputs(c.Recipe, job.Out); err != nil {
		return steps, err
	}
	if err := checkPlaces(c, job.Out, b.hostPlaces()); err != nil {
		return steps, err
	}
	if err := keepBeside(beside, log.Name(), steps); err != nil {
		return steps, err
	}
	for _, d := range []string{job.Work, root} {
		if err := store.RemoveAll(d); err != nil {
			return steps, err
		}
	}
	return steps, os.Rename(job.Out, dir)
}

// job collects what the steps see.
func (b *Builder) job(ctx context.Context, c *PlannedComponent, made map[string]*Built) (*Job, error) {
	r := c.Recipe
	j := &Job{Name: r.Name, Epoch: c.Inputs.Epoch, Steps: c.Inputs.Steps, CPUs: b.CPUs}
	j.Env = merge([]string{
		"HOME=" + sandbox.Home, "LC_ALL=C", "TZ=UTC", "TERM=dumb", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", c.Inputs.Epoch),
	}, c.Inputs.Env)
	if r.WorkTree != "" {
		var err error
		j.Binds, err = b.tree.binds()
		return j, err
	}
	show := func(from, to string, err error) error {
		if err == nil {
			j.Binds = append(j.Binds, sandbox.Bind{From: from, To: to})
		}
		return err
	}
	if c.Inputs.Space.pinned() {
		root, err := b.Provider.Toolchain(ctx, r.Toolchain)
		if err != nil {
			return nil, err
		}
		if r.Toolchain == goToolchain {
			j.Binds = append(j.Binds, sandbox.Bind{From: root, To: goDir}) // a GOROOT is no root file system
		} else {
			j.Root = root
		}
	}
	for _, pin := range r.Pins {
		dir, err := b.Provider.Source(ctx, pin)
		if err := show(dir, path.Join(sourceDir, pin), err); err != nil {
			return nil, err
		}
	}
	for _, d := range c.Inputs.Downloads {
		pin, name, _ := strings.Cut(d.Name, "/")
		dir, err := b.Provider.Input(ctx, pin, name)
		if err := show(dir, path.Join(inputDir, d.Name), err); err != nil {
			return nil, err
		}
	}
	for _, need := range r.Needs {
		if err := show(made[need].Path, path.Join(needDir, need), nil); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// merge returns env with the settings of over, which win.
func merge(env, over []string) []string {
	var out []string
	set := map[string]bool{}
	for _, kv := range over {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !set[name] {
			out = append(out, kv)
		}
	}
	return append(out, over...)
}

// log makes the file that keeps all that the steps print.
func (b *Builder) log(c *PlannedComponent) (*os.File, error) {
	dir, err := b.Cache.mkdir("logs")
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%s.log", c.Name, string(c.Key)[3:15])))
	return f, store.Explain(err, b.Cache.Dir)
}

// explain adds the end of the log to a step's error, and tells what the
// machine did from what the sources did.
func (b *Builder) explain(err error, log *os.File) error {
	var step *StepError
	if errors.As(err, &step) {
		step.Tail, step.Log = tailOf(log), log.Name()
		var exit *sandbox.ExitError
		if errors.As(err, &exit) {
			what := fmt.Sprintf("%s: step %q", step.Component, step.Step)
			if fault := machineFault(what, &run.ExitError{Stderr: step.Tail, Signal: exit.Signal}); fault != nil {
				return fault
			}
		}
	}
	var exceeded *sandbox.Exceeded
	if errors.As(err, &exceeded) {
		return verdict.Infraf("%w", err)
	}
	return notStarted(err)
}

// tailOf returns the last lines of a log, indented.
func tailOf(f *os.File) string {
	const most = 4 << 10
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	buf := make([]byte, min(most, st.Size()))
	n, _ := f.ReadAt(buf, st.Size()-int64(len(buf)))
	lines := bytes.Split(bytes.TrimSpace(buf[:n]), []byte("\n"))
	lines = lines[max(0, len(lines)-12):]
	return "  " + string(bytes.Join(lines, []byte("\n  ")))
}

// keepBeside puts log and figures into the entry, beside its content.
func keepBeside(dir, log string, steps []StepResult) error {
	data, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "log.txt"), data, 0o644); err != nil {
		return err
	}
	figures, err := json.MarshalIndent(steps, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "steps.json"), figures, 0o644)
}

// checkOutputs holds the recipe's list against what was made: everything of
// it, and nothing else.
func checkOutputs(r *Recipe, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	top := map[string]bool{}
	for _, pattern := range r.Outputs {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return verdict.Failf("%s: the steps ran, but did not make %s", r.Name, pattern)
		}
		for _, f := range found {
			rel, err := filepath.Rel(dir, f)
			if err != nil {
				return err
			}
			top[strings.Split(filepath.ToSlash(rel), "/")[0]] = true
		}
	}
	for _, e := range entries {
		if !top[e.Name()] {
			return verdict.Failf("%s: the steps made %s, which the recipe does not name", r.Name, e.Name())
		}
	}
	return nil
}
