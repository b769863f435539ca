// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

func empty() *Subject {
	return &Subject{Round: &round.Round{Group: "g"}, Base: &pins.Set{}, Next: &pins.Set{}, Now: now}
}

// ends is a gate that ends in a stated way.
func ends(name string, r Result) Gate {
	return Gate{Name: name, Run: func(context.Context, *Subject) Result { return r }}
}

func summary(results []Result) string {
	var b strings.Builder
	for _, r := range results {
		b.WriteString(r.Gate + " " + string(r.Verdict) + ": " + r.Why + "\n")
	}
	return b.String()
}

func TestRun(t *testing.T) {
	logs := filepath.Join(t.TempDir(), "logs")
	costly := ends("costly", Result{Verdict: verdict.Pass})
	costly.costly = true
	gates := []Gate{
		ends("good", Result{Verdict: verdict.Pass, Details: "all of it\n"}),
		{Name: "panics", Run: func(context.Context, *Subject) Result { panic("a \u202e mistake") }},
		{Name: "says", Run: func(_ context.Context, s *Subject) Result {
			s.logf("on its way")
			return Result{Verdict: verdict.Skipped, Why: "one\ntwo \x1b[31m"}
		}},
		ends("nothing", Result{}),
		ends("large", Result{Verdict: verdict.Pass, Details: strings.Repeat("line\n", maxDetails)}),
		costly,
	}
	results := Run(t.Context(), empty(), gates, logs)
	want := "good pass: \n" +
		"panics infra: the gate panics has a mistake (a mistake): its log says where; report it\n" +
		"says skipped: one two\n" +
		"nothing infra: the gate nothing has a mistake: it came to no verdict\n" +
		"large pass: \n" +
		"costly pass: \n"
	if diff := cmp.Diff(want, summary(results)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, r := range results {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(logs), r.Log))
		if err != nil || r.Log != "logs/"+r.Gate+".txt" {
			t.Errorf("%s: log %q, %v", r.Gate, r.Log, err)
		}
		if r.Begin.IsZero() || r.Seconds < 0 {
			t.Errorf("%s: begin %v, %v seconds", r.Gate, r.Begin, r.Seconds)
		}
		part := map[string]string{"good": "all of it", "panics": "run_test.go", "says": "on its way"}[r.Gate]
		if !strings.Contains(string(data), part) {
			t.Errorf("%s: its log lacks %q:\n%s", r.Gate, part, data)
		}
	}
	if n := len(results[4].Details); n > maxDetails+100 || !strings.HasSuffix(results[4].Details, "line\n… the rest is in the log\n") {
		t.Errorf("the details have %d bytes", n)
	}
}

func TestCostlyGatesWaitForTheOthers(t *testing.T) {
	for _, c := range []struct {
		first   Result
		skipped bool
	}{
		{Result{Verdict: verdict.Pass}, false},
		{Result{Verdict: verdict.Pass, Person: true}, false},
		{Result{Verdict: verdict.Skipped, Why: "no archive"}, false},
		{Result{Verdict: verdict.Infra, Why: "down"}, false},
		{Result{Verdict: verdict.Held, Why: "waits", Person: true}, false},
		{Result{Verdict: verdict.Fail, Why: "x"}, true},
		{Result{Verdict: verdict.Conflict, Why: "x"}, true},
		{Result{Verdict: verdict.Held, Why: "x"}, true},
	} {
		costly := ends("build", Result{Verdict: verdict.Pass})
		costly.costly = true
		last := Run(t.Context(), empty(), []Gate{ends("first", c.first), ends("second", Result{Verdict: verdict.Pass}), costly}, "")
		want := Result{Verdict: verdict.Pass}
		if c.skipped {
			want = Result{Verdict: verdict.Skipped, Why: "the gate first is " + string(c.first.Verdict)}
		}
		if got := last[2]; got.Verdict != want.Verdict || got.Why != want.Why {
			t.Errorf("after %+v: %s %q, want %s %q", c.first, got.Verdict, got.Why, want.Verdict, want.Why)
		}
		if last[1].Verdict != verdict.Pass {
			t.Errorf("after %+v the second was not run: %+v", c.first, last[1])
		}
	}
}

func TestRunIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	results := Run(ctx, empty(), []Gate{
		ends("first", Result{Verdict: verdict.Pass}),
		{Name: "second", Run: func(ctx context.Context, _ *Subject) Result {
			cancel()
			return Result{Verdict: verdict.Fail, Why: "a process was killed"}
		}},
		ends("third", Result{Verdict: verdict.Pass}),
	}, "")
	want := "first pass: \nsecond infra: it was ended: context canceled\nthird infra: it was not run: context canceled\n"
	if diff := cmp.Diff(want, summary(results)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if v, _ := Decision(results); v != verdict.Infra {
		t.Errorf("decided %s", v)
	}
}

func TestLogsThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ran := false
	r := Run(t.Context(), empty(), []Gate{{Name: "a", Run: func(context.Context, *Subject) Result {
		ran = true
		return Result{Verdict: verdict.Pass}
	}}}, filepath.Join(file, "logs"))[0]
	if ran || r.Verdict != verdict.Infra || !strings.Contains(r.Why, "its log cannot be written") {
		t.Errorf("%+v", r)
	}
}

func TestDecision(t *testing.T) {
	pass := Result{Gate: "pins", Verdict: verdict.Pass}
	for _, c := range []struct {
		name  string
		in    []Result
		want  verdict.Verdict
		draft []string
	}{
		{"nothing ran", nil, verdict.Skipped, nil},
		{"all good", []Result{pass, pass}, verdict.Pass, nil},
		{"no archive", []Result{pass, {Gate: "archive", Verdict: verdict.Skipped, Why: "no archive configured"}}, verdict.Pass, []string{"archive: no archive configured"}},
		{"a component that cannot be built", []Result{pass, {Gate: "build", Verdict: verdict.Skipped, Why: "npu: no compiler"}}, verdict.Pass, []string{"build: npu: no compiler"}},
		{"no keys", []Result{pass, {Gate: "signature", Verdict: verdict.Skipped, Why: noKeys}}, verdict.Pass, nil},
		{"a signature that was not looked at", []Result{pass, {Gate: "signature", Verdict: verdict.Skipped, Why: "x"}}, verdict.Pass, []string{"signature: x"}},
		{"hardware waits", []Result{pass, {Gate: "hardware", Verdict: verdict.Held, Why: "waits for evidence", Person: true}}, verdict.Pass, []string{"hardware: waits for evidence"}},
		{"a person must look", []Result{pass, {Gate: "license", Verdict: verdict.Pass, Why: "LICENSE changed", Person: true}}, verdict.Pass, []string{"license: LICENSE changed"}},
		{"held", []Result{pass, {Gate: "pins", Verdict: verdict.Held, Why: "x"}}, verdict.Held, nil},
		{"infra", []Result{pass, {Gate: "archive", Verdict: verdict.Infra}, {Gate: "pins", Verdict: verdict.Held}}, verdict.Infra, nil},
		{"conflict", []Result{pass, {Gate: "stack", Verdict: verdict.Conflict}, {Gate: "build", Verdict: verdict.Skipped, Why: "the stack does not apply"}}, verdict.Conflict, []string{"build: the stack does not apply"}},
		{"fail", []Result{{Gate: "stack", Verdict: verdict.Conflict}, {Gate: "build", Verdict: verdict.Fail}}, verdict.Fail, nil},
		{"only skipped", []Result{{Gate: "build", Verdict: verdict.Skipped}}, verdict.Skipped, []string{"build: skipped"}},
		{"an unknown word", []Result{pass, {Gate: "build", Verdict: "fine"}}, verdict.Fail, nil},
	} {
		v, draft := Decision(c.in)
		if v != c.want || !slices.Equal(draft, c.draft) {
			t.Errorf("%s: %s %q, want %s %q", c.name, v, draft, c.want, c.draft)
		}
	}
	if got := Worst([]Result{pass, {Verdict: verdict.Skipped}}); got != verdict.Skipped {
		t.Errorf("the worst is %s", got)
	}
}

func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range All() {
		if g.Name == "" || g.What == "" || g.Run == nil || seen[g.Name] {
			t.Errorf("%+v", g)
		}
		seen[g.Name] = true
		if found, err := Find(g.Name); err != nil || found.Name != g.Name {
			t.Errorf("find %s: %+v, %v", g.Name, found, err)
		}
	}
	if _, err := Find("ghost"); verdict.ExitCode(err) != verdict.ExitUsage || !strings.Contains(err.Error(), "contracts") {
		t.Errorf("%v", err)
	}
}
