// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Summary is what a run of go test -json came to. Tests with subtests are
// counted by their subtests, and by themselves only when they alone failed.
type Summary struct {
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"`
	Skipped  int       `json:"skipped"`
	Failures []string  `json:"failures"` // tests, packages, and required parts that no test used
	Skips    []string  `json:"skips"`    // tests, with the reason
	Parts    []PartUse `json:"parts"`
}

// A PartUse is one row of the table of real parts, in tests.
type PartUse struct {
	Part     string `json:"part"`
	Version  string `json:"version"` // several, when tests saw several
	Run      int    `json:"run"`     // used it and passed or failed
	Skipped  int    `json:"skipped"`
	Failed   int    `json:"failed"`
	Required bool   `json:"required"`
}

// event is what go test -json prints, one a line.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// result of one test while the events come in.
type result struct {
	outcome string // pass, fail, skip; empty while it runs
	output  []string
	parts   map[string]string // name: version, empty when absent
}

// partLine is the fixed form in which package parts says what it found; the
// position is what testing puts before a log line.
var partLine = regexp.MustCompile(`^\s+\S+:\d+: part (\S+): (used|absent): (.*)\n?$`)

// A summarizer takes events and prints failures as they come.
type summarizer struct {
	w        io.Writer
	tests    map[string]map[string]*result // package: test
	packages map[string]string             // outcome, empty while it runs
	stray    map[string][]string           // output of packages outside tests, and of builds
	sum      Summary
}

// Summarize reads the output of go test -json, prints every failure with its
// output, then the skipped tests and the table of real parts on w. Required
// are the parts that a test must have used. What makes the run a failure is in
// the summary; the error is about reading and writing only.
func Summarize(r io.Reader, w io.Writer, required []string) (*Summary, error) {
	s := &summarizer{w: w, tests: map[string]map[string]*result{}, packages: map[string]string{}, stray: map[string][]string{}}
	s.sum = Summary{Failures: []string{}, Skips: []string{}, Parts: []PartUse{}}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			s.line(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the test events: %w", err)
		}
	}
	s.finish(required)
	return &s.sum, s.report()
}

// Pass reports whether the run was good: something passed, nothing failed.
func (s *Summary) Pass() bool { return s.Failed == 0 && len(s.Failures) == 0 && s.Passed > 0 }

// Line is the last line of a run.
func (s *Summary) Line() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", s.Passed, s.Failed, s.Skipped)
}

func (s *summarizer) line(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Action == "" {
		fmt.Fprintf(s.w, "%s\n", strings.TrimRight(line, "\n")) // go itself speaking
		return
	}
	switch {
	case e.Action == "build-output":
		s.stray[e.ImportPath] = append(s.stray[e.ImportPath], e.Output)
	case e.Action == "build-fail":
		// Its packages say that they failed, with this name.
	case e.Test == "":
		s.packageEvent(e)
	default:
		s.testEvent(e)
	}
}

func (s *summarizer) packageEvent(e event) {
	switch e.Action {
	case "start":
		s.packages[e.Package] = ""
	case "output":
		s.stray[e.Package] = append(s.stray[e.Package], e.Output)
	case "pass", "skip":
		s.packages[e.Package] = e.Action
		delete(s.stray, e.Package)
	case "fail":
		s.packages[e.Package] = e.Action
		s.packageFailed(e)
	}
}

// packageFailed counts a package that failed once for each of its tests, or
// by itself when no test did.
func (s *summarizer) packageFailed(e event) {
	failed := false
	for _, name := range slices.Sorted(maps.Keys(s.tests[e.Package])) {
		t := s.tests[e.Package][name]
		if t.outcome == "" { // a panic, a time limit or an exit ended the program
			t.outcome = "fail"
			s.show(e.Package+"."+name+" did not end", t.output)
		}
		failed = failed || t.outcome == "fail"
	}
	if failed {
		delete(s.stray, e.Package)
		return
	}
	what := e.Package
	if e.FailedBuild != "" {
		what += " does not build"
	}
	s.fail(what)
	s.show(what, append(s.stray[e.FailedBuild], s.stray[e.Package]...))
	delete(s.stray, e.FailedBuild)
	delete(s.stray, e.Package)
}

func (s *summarizer) testEvent(e event) {
	if s.tests[e.Package] == nil {
		s.tests[e.Package] = map[string]*result{}
	}
	t := s.tests[e.Package][e.Test]
	if t == nil {
		t = &result{parts: map[string]string{}}
		s.tests[e.Package][e.Test] = t
	}
	switch e.Action {
	case "output":
		if m := partLine.FindStringSubmatch(e.Output); m != nil {
			version := ""
			if m[2] == "used" {
				version = m[3]
			}
			t.parts[m[1]] = version
		}
		t.output = append(t.output, e.Output)
	case "pass":
		t.outcome, t.output = e.Action, nil
	case "skip":
		t.outcome = e.Action
		s.sum.Skips = append(s.sum.Skips, e.Package+"."+e.Test+": "+reason(t.output))
		t.output = nil
	case "fail":
		t.outcome = e.Action
		s.show(e.Package+"."+e.Test, t.output)
		t.output = nil
	}
}

// reason returns what a skipped test logged last, without its position.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "=== ") {
			continue
		}
		if _, text, ok := strings.Cut(line, ": "); ok {
			return text
		}
		return line
	}
	return "no reason given"
}

func (s *summarizer) show(what string, output []string) {
	fmt.Fprintf(s.w, "FAIL %s\n", what)
	for _, text := range output {
		if !strings.HasPrefix(text, "=== ") {
			fmt.Fprintf(s.w, "    %s\n", strings.TrimRight(text, "\n"))
		}
	}
}

func (s *summarizer) fail(what string) {
	s.sum.Failed++
	s.sum.Failures = append(s.sum.Failures, what)
}

// finish counts.
func (s *summarizer) finish(required []string) {
	for _, pkg := range slices.Sorted(maps.Keys(s.packages)) {
		if s.packages[pkg] == "" {
			s.fail(pkg + " did not end: the output of go test is cut off")
		}
	}
	use := map[string]*PartUse{}
	versions := map[string][]string{}
	row := func(name string) *PartUse {
		if use[name] == nil {
			use[name] = &PartUse{Part: name, Required: slices.Contains(required, name)}
		}
		return use[name]
	}
	for _, name := range required {
		row(name)
	}
	for _, pkg := range slices.Sorted(maps.Keys(s.tests)) {
		tests := s.tests[pkg]
		parents := map[string]string{} // worst outcome of the subtests
		for name, t := range tests {
			for p := parent(name); p != ""; p = parent(p) {
				if parents[p] != "fail" {
					parents[p] = cmp.Or(t.outcome, "fail")
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			t := tests[name]
			below, isParent := parents[name]
			switch {
			case t.outcome == "fail" && below != "fail":
				s.fail(pkg + "." + name)
			case isParent:
			case t.outcome == "pass":
				s.sum.Passed++
			case t.outcome == "skip":
				s.sum.Skipped++
			}
			for part, version := range t.parts {
				r := row(part)
				if version != "" && !slices.Contains(versions[part], version) {
					versions[part] = append(versions[part], version)
				}
				switch t.outcome {
				case "fail":
					r.Failed++
					if version != "" {
						r.Run++
					}
				case "skip":
					r.Skipped++
				case "pass":
					r.Run++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(use)) {
		r := use[name]
		slices.Sort(versions[name])
		r.Version = strings.Join(versions[name], "; ")
		if r.Required && r.Run == 0 {
			s.fail("part " + name + " is required and no test used it")
		}
		s.sum.Parts = append(s.sum.Parts, *r)
	}
	if s.sum.Passed+s.sum.Failed+s.sum.Skipped == 0 {
		s.sum.Failures = append(s.sum.Failures, "no test was run")
	}
	slices.Sort(s.sum.Skips)
}

func parent(test string) string {
	i := strings.LastIndexByte(test, '/')
	return test[:max(i, 0)]
}

// report prints what is known at the end, except the last line.
func (s *summarizer) report() error {
	for _, skip := range s.sum.Skips {
		fmt.Fprintf(s.w, "skipped %s\n", skip)
	}
	for _, f := range s.sum.Failures {
		fmt.Fprintf(s.w, "failed %s\n", f)
	}
	_, err := fmt.Fprintln(s.w)
	return err
}
