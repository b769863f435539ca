// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The files in testdata/summary are what go test -json of Go 1.26 printed for
// packages made to fail in each way.
func TestSummarize(t *testing.T) {
	git := PartUse{Part: "git", Version: "git version 2.39.5", Run: 1}
	failedGit := PartUse{Part: "git", Version: "git version 2.39.5", Run: 1, Failed: 1}
	glslc := PartUse{Part: "glslc", Skipped: 1}
	need := func(p PartUse) PartUse { p.Required = true; return p }
	okSkips := []string{"example.com/rec/ok.TestAbsent: part glslc: absent: Debian's package glslc"}
	for _, c := range []struct {
		file     string
		required []string
		want     Summary
		pass     bool
		shown    string // must be in what is printed
	}{
		{file: "pass", want: Summary{Passed: 2, Skipped: 1, Skips: okSkips, Parts: []PartUse{git, glslc}}, pass: true, shown: "skipped example.com/rec/ok.TestAbsent: part glslc: absent"},
		{file: "cached", want: Summary{Passed: 2, Skipped: 1, Skips: okSkips, Parts: []PartUse{git, glslc}}, pass: true},
		{file: "mixed", want: Summary{Passed: 2, Skipped: 1, Skips: okSkips, Parts: []PartUse{git, glslc}}, pass: true, shown: "go: downloading something\n"},
		{file: "pass", required: []string{"git"}, want: Summary{Passed: 2, Skipped: 1, Skips: okSkips, Parts: []PartUse{need(git), glslc}}, pass: true},
		{
			file: "pass", required: []string{"glslc", "llama-server"},
			want: Summary{
				Passed: 2, Skipped: 1, Failed: 2, Skips: okSkips,
				Failures: []string{"part glslc is required and no test used it", "part llama-server is required and no test used it"},
				Parts:    []PartUse{git, need(glslc), {Part: "llama-server", Required: true}},
			},
		},
		{file: "broken", want: Summary{Failed: 1, Failures: []string{"example.com/rec/broken does not build"}}, shown: "broken/a_test.go:3:28: undefined: undefined"},
		{file: "panics", want: Summary{Passed: 1, Failed: 1, Failures: []string{"example.com/rec/panics.TestPanics"}, Parts: []PartUse{failedGit}}, shown: "panic: oh"},
		{file: "timeout", want: Summary{Failed: 1, Failures: []string{"example.com/rec/slow.TestSlow"}}, shown: "test timed out after 300ms"},
		{file: "exits", want: Summary{Passed: 1, Failed: 1, Failures: []string{"example.com/rec/exits"}}, shown: "FAIL example.com/rec/exits\n"},
		{
			file: "subs",
			want: Summary{
				Passed: 2, Failed: 2, Skipped: 1,
				Failures: []string{"example.com/rec/subs.TestParentAlone", "example.com/rec/subs.TestSubs/bad"},
				Skips:    []string{"example.com/rec/subs.TestSubs/skipped: no reason"},
			},
			shown: "wrong: 1, want 2",
		},
		{file: "none", want: Summary{Failures: []string{"no test was run"}}},
		{file: "cut", want: Summary{Passed: 1, Failed: 1, Failures: []string{"example.com/rec/ok did not end: the output of go test is cut off"}, Parts: []PartUse{git}}},
	} {
		t.Run(c.file+" "+strings.Join(c.required, ","), func(t *testing.T) {
			in, err := os.Open(filepath.Join("testdata", "summary", c.file+".json"))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var out bytes.Buffer
			got, err := Summarize(in, &out, c.required)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, *got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("summary (-want +got):\n%s\nprinted:\n%s", d, out.String())
			}
			if got.Pass() != c.pass {
				t.Errorf("Pass() = %v, want %v", got.Pass(), c.pass)
			}
			if !strings.Contains(out.String(), c.shown) {
				t.Errorf("%q is not in what is printed:\n%s", c.shown, out.String())
			}
		})
	}
}

func TestSummaryLine(t *testing.T) {
	s := Summary{Passed: 12, Failed: 3, Skipped: 4}
	if got, want := s.Line(), "12 passed, 3 failed, 4 skipped"; got != want {
		t.Errorf("Line() = %q, want %q", got, want)
	}
}

func FuzzSummarize(f *testing.F) {
	names, err := filepath.Glob("testdata/summary/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Summarize(bytes.NewReader(data), &bytes.Buffer{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Passed < 0 || got.Failed < 0 || got.Skipped < 0 || got.Pass() && got.Passed == 0 {
			t.Errorf("%+v", got)
		}
	})
}
