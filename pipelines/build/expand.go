// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// word is a placeholder in a step: {cpu} or {commit:PIN}. Braces that hold
// anything else, such as find's {}, are left alone.
var word = regexp.MustCompile(`\{(cpu|commit|commit12|version|inputs)(?::([a-z0-9-]+))?\}`)

// expand returns the recipe's steps and environment for a processor, with the
// placeholders filled in from the locks.
func (r *Recipe) expand(set *pins.Set, cpu CPU) (env []string, steps []Step, err error) {
	fill := func(list []string) []string {
		var out []string
		for _, s := range list {
			if pin, ok := strings.CutPrefix(s, "{inputs:"); ok {
				out = append(out, givenInputs(set, strings.TrimSuffix(pin, "}"))...)
				continue
			}
			out = append(out, word.ReplaceAllStringFunc(s, func(w string) string {
				v, e := valueOf(word.FindStringSubmatch(w), set, cpu)
				if e != nil && err == nil {
					err = fmt.Errorf("recipe %s: %s: %w", r.Name, w, e)
				}
				return v
			}))
		}
		return out
	}
	env = fill(r.Env)
	for _, s := range r.Steps {
		steps = append(steps, Step{Name: s.Name, Args: fill(s.Args), Dir: s.Dir, Env: fill(s.Env)})
	}
	return env, steps, err
}

func valueOf(m []string, set *pins.Set, cpu CPU) (string, error) {
	what, name := m[1], m[2]
	if what == "cpu" {
		return string(cpu), nil
	}
	p, err := set.Named(name)
	if err != nil {
		return "", err
	}
	if p.Lock == nil {
		return "", verdict.Failf("pin %s has no lock", name)
	}
	switch what {
	case "commit":
		return p.Lock.Commit, nil
	case "commit12":
		return p.Lock.Commit[:min(12, len(p.Lock.Commit))], nil
	case "version":
		return p.Lock.Version, nil
	}
	return "", fmt.Errorf("{%s} stands alone", what)
}

// givenInputs returns the CMake definitions that hand a pin's inputs to its
// build: -DFETCHCONTENT_SOURCE_DIR_X=/inputs/<pin>/<name>.
func givenInputs(set *pins.Set, name string) []string {
	p := set.Pin(name)
	if p == nil || p.Lock == nil {
		return nil
	}
	var args []string
	for _, in := range p.Lock.Inputs {
		if in.Give != "" {
			args = append(args, fmt.Sprintf("-D%s=%s/%s/%s", in.Give, inputDir, name, in.Name))
		}
	}
	return args
}
