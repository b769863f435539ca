// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/engine/probe"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A diagnosis is what doctor says as JSON.
type diagnosis struct {
	Machine  probe.Machine `json:"machine"`
	Model    *modelFacts   `json:"model,omitempty"`
	Programs []planned     `json:"programs"`
	Notes    []string      `json:"notes"`
	Problem  string        `json:"problem,omitempty"` // why it can not be served
}

// modelFacts are what decides over a model.
type modelFacts struct {
	Path         string `json:"path"`
	Files        int    `json:"files"`
	Bytes        int64  `json:"bytes"`
	Architecture string `json:"architecture,omitempty"`
	Rotated      bool   `json:"hadamard_rotated"`
}

func newDoctor() *cobra.Command {
	var q request
	cmd := &cobra.Command{
		Use:   "doctor -m MODEL.gguf",
		Short: "Say what serve would do with a model and a command line",
		Long: `Say what 'serve' would do with a model and a command line: what the machine
has, what the model is, which device and program it would take, with exactly
which arguments and environment, and what stands in the way. It takes the flags
of serve that decide over that. Exit code 1 when it could not be served.`,
		Example: `  1bit doctor -m qwen3-8b.gguf
  1bit doctor -m qwen3-8b.gguf --device hrx --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			if q.Model == "" {
				return verdict.Usagef("which model? Give its file with -m")
			}
			r, err := q.read(cmd)
			if err != nil {
				return err
			}
			d, err := diagnose(cmd, r, route.ThisHost())
			if err != nil {
				return err
			}
			if env.JSON {
				env.PrintJSON(d)
			} else {
				d.show(env)
			}
			if d.Problem != "" {
				return cli.Done(verdict.Fail)
			}
			return nil
		},
	}
	q.add(cmd)
	return cmd
}

// diagnose looks at everything. What is wrong with the command line is part of
// the answer.
func diagnose(cmd *cobra.Command, r route.Request, h route.Host) (diagnosis, error) {
	d := diagnosis{Programs: []planned{}, Notes: []string{}}
	found, err := probe.Programs(cmd.Context(), r, h, true)
	if err != nil {
		return d, err
	}
	d.Machine = probe.Read(probe.Files{})
	d.Machine.Decide(found)
	if m, err := route.ReadModel(r.Model, r.Device); err == nil {
		rotated, _ := m.Rotated()
		d.Model = &modelFacts{r.Model, len(m.Headers), m.Bytes(), m.Header().Architecture(), rotated}
		d.Notes = append(d.Notes, fits(m, d.Machine)...)
	}
	d.Notes = append(d.Notes, variables()...)
	s, err := route.New(cmd.Context(), r, h)
	if cmd.Context().Err() != nil {
		return d, cmd.Context().Err()
	}
	if err != nil {
		d.Problem = err.Error()
		return d, nil
	}
	d.Programs, d.Notes = planOf(s), append(d.Notes, s.Notes...)
	return d, nil
}

// fits holds the size of a model against memory.
func fits(m route.Model, machine probe.Machine) (notes []string) {
	if free := machine.Memory.Total - machine.Memory.Used; m.Bytes() > free && machine.Memory.Total > 0 {
		notes = append(notes, fmt.Sprintf("the model has %s and %s of memory are free", size(m.Bytes()), size(free)))
	}
	for _, g := range machine.GPUs {
		if room := g.VRAM.Total + g.GTT.Total; g.Integrated && room > 0 && m.Bytes() > room {
			notes = append(notes, fmt.Sprintf("the model has %s and %s can have %s: raise ttm.pages_limit, or use a smaller one", size(m.Bytes()), g.Name, size(room)))
		}
	}
	return notes
}

// variables are those that change what a backend does without serve's doing.
func variables() (notes []string) {
	for _, x := range [][2]string{
		{"HSA_OVERRIDE_GFX_VERSION", "makes ROCm use code for another chip; unset it where the build has code for this one"},
		{"GGML_VK_VISIBLE_DEVICES", "chooses Vulkan devices, and lets renderers on the CPU pass"},
		{"HIP_VISIBLE_DEVICES", "hides GPUs from ROCm"},
		{"ROCR_VISIBLE_DEVICES", "hides GPUs from ROCm"},
	} {
		if v, set := os.LookupEnv(x[0]); set {
			notes = append(notes, x[0]+"="+v+" "+x[1])
		}
	}
	return notes
}

func (d diagnosis) show(env *cli.Env) {
	showMachine(env, d.Machine)
	env.Printf("\n")
	if m := d.Model; m != nil {
		stamp := ""
		if m.Rotated {
			stamp = ", Hadamard-rotated"
		}
		env.Printf("model    %s: %s, %s in %d files%s\n", m.Path, or(inert.Line(m.Architecture, 100), "no architecture"), size(m.Bytes), m.Files, stamp)
	}
	for _, n := range d.Notes {
		env.Printf("note     %s\n", n)
	}
	for _, p := range d.Programs {
		env.Printf("run      %s\n", p.line())
	}
	if d.Problem != "" {
		env.Printf("problem  %s\n", d.Problem)
	}
}
