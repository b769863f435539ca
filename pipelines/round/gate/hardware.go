// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/hardware"
	"github.com/1bit-MONSTER/engine/pipelines/hardware/evidence"
)

// evidenced asks what machines found out about the very outputs that the gate
// build left in the store. It runs nothing itself: who has a machine builds the
// same bytes from the proposal, tests them, and adds the signed evidence.
func evidenced() Gate {
	return Gate{
		Name:    "hardware",
		What:    "signed evidence says that each rebuilt component passes its hardware tests",
		patched: true,
		costly:  true, // without an output there is nothing to wait for
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			f.fault(evidenceOf(ctx, f, s))
			return f.result()
		},
	}
}

func evidenceOf(ctx context.Context, f *findings, s *Subject) error {
	recipes := s.fed()
	if len(recipes) == 0 {
		f.detail("no component is built from what moves")
		return nil
	}
	definitions, err := hardware.Definitions(s.BaseDir)
	if err != nil {
		return err
	}
	tests := map[string][]hardware.Definition{}
	var tested []string
	for _, d := range definitions {
		tests[d.Component] = append(tests[d.Component], d)
	}
	for _, r := range recipes {
		name := r.Name
		if len(tests[name]) == 0 {
			f.say(verdict.Skipped, "no hardware test is defined for %s", name)
			continue
		}
		tested = append(tested, name)
	}
	if len(tested) == 0 {
		return nil
	}
	trust, err := evidence.LoadTrust(s.BaseDir)
	if err != nil {
		return err
	}
	outputs, err := s.outputs(ctx, tested)
	if err != nil {
		return err
	}
	for _, name := range tested {
		output := outputs[name]
		if output == "" {
			f.say(verdict.Skipped, "%s was not built, so nothing can be evidence for it", name)
			continue
		}
		for _, test := range tests[name] {
			if err := testOf(f, s, trust, test, output); err != nil {
				return fmt.Errorf("evidence of %s: %w", name, err)
			}
		}
	}
	return nil
}

// outputs returns the t1: of each component that is in the store as the round
// makes it.
func (s *Subject) outputs(ctx context.Context, names []string) (map[string]string, error) {
	w, err := s.Workshop()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	plan, err := w.Plan(ctx, names...)
	if err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	for _, c := range plan.Components {
		if c.State != build.StateHit {
			continue
		}
		e, err := s.Engine.Store.Get(c.Key)
		if err != nil {
			return nil, err
		}
		outputs[c.Name] = e.Sum
	}
	return outputs, nil
}

// testOf judges one test of one output. Evidence may come with the round, since
// it is signed; whose signature counts is for main to say.
func testOf(f *findings, s *Subject, trust *evidence.Trust, test hardware.Definition, output string) error {
	found, err := evidence.Find([]string{s.BaseDir, s.NextDir}, test.Component, output, test.Digest, trust, s.Now)
	if err != nil {
		return err
	}
	for _, r := range found.Refused {
		f.detail("%s does not count: %s", shown(r.File), r.Err)
	}
	about := fmt.Sprintf("%s on %s %s", test.Name, test.Component, output)
	for _, v := range found.Counts {
		by := fmt.Sprintf("says runner %s, on machine %s at %s", v.Runner, v.Machine, v.At.Format("2006-01-02 15:04"))
		f.detail("%s: %s, %s", about, v.Result, by)
		if v.Result == evidence.Passed {
			continue
		}
		of := ""
		if len(v.FailedOnes) > 0 {
			of = " (" + shown(strings.Join(v.FailedOnes, ", ")) + ")"
		}
		f.say(verdict.Fail, "%s failed%s, %s", about, of, by)
	}
	if len(found.Counts) == 0 {
		// Held until somebody tested what is proposed, so it may be proposed.
		f.list = append(f.list, finding{verdict: verdict.Held, why: "waits for evidence of " + about, person: true})
	}
	return nil
}
