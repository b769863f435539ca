// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// workshop returns what plans and builds components.
func (f *buildFlags) workshop(cmd *cobra.Command) (*build.Workshop, error) {
	engine, _, err := f.network.engine(cmd)
	if err != nil {
		return nil, err
	}
	o, err := f.options(cmd)
	if err != nil {
		return nil, err
	}
	space := build.Sandboxed
	switch {
	case f.noSandbox:
		space = build.NoSandbox
	case f.hostTools:
		space = build.HostTools
	}
	var live io.Writer
	if env := cli.From(cmd); env.Terminal {
		live = env.Err
	}
	return build.NewWorkshop(build.WorkshopOptions{
		Serve: o, Engine: engine, Live: live, CPU: build.CPU(f.cpu), Space: space,
	}), nil
}

func showPlan(cmd *cobra.Command, env *cli.Env, w *build.Workshop, names []string, svg bool) error {
	plan, err := w.Plan(cmd.Context(), names...)
	if err != nil {
		return err
	}
	switch {
	case svg:
		_, err := io.WriteString(env.Out, plan.SVG())
		return err
	case env.JSON:
		return env.PrintJSON(plan)
	}
	t := cli.Table{Head: []string{"COMPONENT", "STATE", "INPUT", "DIGEST"}}
	for _, c := range plan.Components {
		if c.Inputs == nil {
			t.Add(c.Name, c.State, "", "")
			continue
		}
		t.Add(c.Name, c.State, "toolchain "+c.Inputs.Toolchain.Name, c.Inputs.Toolchain.Sum)
		for _, s := range c.Inputs.Sources {
			t.Add("", "", "source "+s.Name, s.Sum)
		}
		for _, s := range c.Inputs.Downloads {
			t.Add("", "", "download "+s.Name, s.Sum)
		}
		for _, s := range c.Inputs.Needs {
			t.Add("", "", "component "+s.Name, s.Sum)
		}
		t.Add("", "", "= key", string(c.Key))
	}
	if err := t.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, c := range plan.Components {
		if c.Why != "" {
			env.Notef("%s", c.Why)
		}
	}
	return nil
}

// explained is what --explain says of one component, for a program.
type explained struct {
	Name    string         `json:"name"`
	State   string         `json:"state"`
	Last    string         `json:"last,omitempty"` // key of the newest output in the store
	Changes []build.Change `json:"changes"`
	Why     string         `json:"why,omitempty"`
}

func explainBuilds(cmd *cobra.Command, env *cli.Env, w *build.Workshop, names []string) error {
	var all []explained
	for _, name := range names {
		c, last, changes, err := w.Explain(cmd.Context(), name)
		if c == nil {
			return err
		}
		x := explained{Name: name, State: c.State, Changes: changes, Why: c.Why}
		if last != nil {
			x.Last = string(last.Key)
		}
		all = append(all, x)
		if env.JSON {
			continue
		}
		switch {
		case c.Why != "":
			env.Printf("%s: %s\n", name, c.Why)
		case c.State == build.StateHit:
			env.Printf("%s: the store has it (%s); nothing would be built\n", name, c.Key)
		case last == nil:
			env.Printf("%s: it was never built here\n", name)
		default:
			env.Printf("%s: since it was built on %s\n", name, last.Created.Format(time.DateOnly))
			for _, change := range changes {
				env.Printf("  %s\n", change)
			}
		}
	}
	if env.JSON {
		return env.PrintJSON(all)
	}
	return nil
}

func buildComponents(cmd *cobra.Command, env *cli.Env, w *build.Workshop, names []string, all bool) error {
	made, err := w.Build(cmd.Context(), names...)
	if err != nil {
		return err
	}
	var verdicts []verdict.Verdict
	for _, m := range made {
		// What cannot be built anywhere yet is no failure of --all.
		if !all || m.Verdict != verdict.Skipped {
			verdicts = append(verdicts, m.Verdict)
		}
	}
	if env.JSON {
		if err := env.PrintJSON(made); err != nil {
			return err
		}
		return cli.Done(verdict.Worst(verdicts...))
	}
	t := cli.Table{Head: []string{"COMPONENT", "VERDICT", "DONE", "SIZE", "WHERE"}}
	for _, m := range made {
		if m.Built == nil {
			t.Add(m.Name, string(m.Verdict), "-", "-", "-")
			continue
		}
		done := "built"
		switch {
		case m.Hit:
			done = "in the store"
		case m.From != "":
			done = "from the remote cache"
		}
		t.Add(m.Name, string(m.Verdict), done, megabytes(m.Size), shorten(m.View))
	}
	if err := t.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, m := range made {
		if m.Why != "" {
			env.Notef("%s: %s", m.Name, strings.TrimPrefix(m.Why, m.Name+": "))
		}
		if m.Built != nil && len(m.Steps) > 0 {
			showSteps(env, m)
		}
	}
	return cli.Done(verdict.Worst(verdicts...))
}

func showSteps(env *cli.Env, m build.Made) {
	t := cli.Table{Head: []string{"STEP OF " + strings.ToUpper(m.Name), "TIME", "CPU", "MEMORY", "SEEN BY"}}
	for _, s := range m.Steps {
		t.Add(s.Name, s.Wall.Round(time.Millisecond).String(), s.CPU.Round(time.Millisecond).String(), fmt.Sprintf("%d MiB", s.PeakMemory>>20), s.MemoryBy)
	}
	t.Write(env.Out, false)
}
