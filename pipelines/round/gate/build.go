// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// built builds every component that a moving member feeds, for real: what only
// looks as if it fits does not compile.
func built() Gate {
	return Gate{
		Name:    "build",
		What:    "every component that the group feeds is built, offline and in the sandbox",
		patched: true,
		costly:  true,
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			f.fault(components(ctx, f, s))
			return f.result()
		},
	}
}

// fed returns the recipes that are built from a member that moves.
func (s *Subject) fed() []*build.Recipe {
	recipes := s.Recipes
	if recipes == nil {
		recipes = build.Recipes()
	}
	return s.Round.Feeds(recipes)
}

// owing returns a pin of a recipe whose build files declare downloads that no
// input covers on main already: then nobody can build the recipe yet, and the
// bump is not to blame.
func owing(ctx context.Context, s *Subject, r *build.Recipe) string {
	for _, name := range r.Pins {
		p := s.Base.Pin(name)
		if p == nil || !hasCommit(p) || p.Lock.Sum == "" {
			continue
		}
		if _, found, err := s.Engine.Downloads(ctx, p); err == nil && found.Err() != nil {
			return name
		}
	}
	return ""
}

func components(ctx context.Context, f *findings, s *Subject) error {
	recipes := s.fed()
	if len(recipes) == 0 {
		f.detail("no component is built from what moves")
		return nil
	}
	var names []string
	owed := map[string]string{} // pins, by the recipes that they stop
	for _, r := range recipes { // each after those that it needs
		pin := owing(ctx, s, r)
		for _, need := range r.Needs {
			pin = cmp.Or(pin, owed[need])
		}
		if owed[r.Name] = pin; pin != "" {
			f.say(verdict.Skipped, "%s cannot be built yet, on main neither: what pin %s declares to download is in no input of it", r.Name, pin)
			continue
		}
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		return nil
	}
	w, err := s.Workshop()
	if err != nil {
		return err
	}
	defer w.Close()
	made, err := w.Build(ctx, names...)
	for _, m := range made {
		component(f, s, m)
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(made, func(m build.Made) bool { return m.Name == name }) {
			f.say(verdict.Skipped, "%s was not built", name)
		}
	}
	return nil
}

// Bounds of what is shown of a failed build's output.
const (
	tailLines   = 40
	tailColumns = 300
)

func component(f *findings, s *Subject, m build.Made) {
	how := ""
	if m.Verdict == verdict.Pass {
		how = "built"
		if m.Built != nil && m.Hit {
			how = "as in the store"
		}
		if m.Built != nil {
			how += ", " + m.Sum
		}
	}
	f.detail("%s: %s %s", m.Name, m.Verdict, how)
	if m.Log != "" {
		if err := s.keepLog(m); err != nil {
			s.logf("the log of %s is not kept: %v", m.Name, err)
		}
	}
	if m.Verdict == verdict.Pass {
		return
	}
	s.logf("%s: %s: %s", m.Name, m.Verdict, m.Why)
	first, rest, more := strings.Cut(m.Why, "; its last lines:\n")
	f.say(m.Verdict, "%s", withName(m.Name, first))
	if more {
		rest, _, _ = strings.Cut(rest, "\nthe whole log is ")
		for line := range strings.Lines(inert.Text(rest, tailLines, tailColumns)) {
			f.detail("  %s", strings.TrimSuffix(line, "\n"))
		}
	}
}

// withName puts a component before what is said of it, once.
func withName(name, why string) string {
	if strings.HasPrefix(why, name+":") {
		return why
	}
	return name + ": " + why
}

// keepLog copies what a component's steps printed beside the gate's log.
func (s *Subject) keepLog(m build.Made) error {
	in, err := os.Open(m.Log)
	if err != nil {
		return err
	}
	defer in.Close()
	if s.logs == "" {
		_, err := io.Copy(s.Log, in)
		return err
	}
	name := "build-" + inert.FileName(m.Name) + ".txt"
	out, err := os.Create(filepath.Join(s.logs, name))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	s.logf("%s: its log is %s", m.Name, name)
	return out.Close()
}
