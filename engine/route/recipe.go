// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// A Recipe is settings for a llama-server, as data: what they are for, what they
// are, why, and the measurement that says so.
type Recipe struct {
	ID       string            `json:"id"`
	Match    Match             `json:"match"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Why      string            `json:"why"`
	Measured string            `json:"measured"`
	Source   string            `json:"source"`
}

// noteLimit bounds what is shown of a recipe's text, in runes.
const noteLimit = 500

// A Match says what a recipe is for. What is not stated matches everything.
type Match struct {
	Device       []string `json:"device"`
	Architecture []string `json:"architecture"`
	MoE          *bool    `json:"moe"`
	Drafter      []string `json:"drafter"` // none, mtp, dflash
	Hadamard     *bool    `json:"hadamard_q4_0"`
}

//go:embed recipes.json
var builtinRecipes []byte

// recipes returns those that r asks for: of a file, the built-in ones, or none.
func (r Request) recipes() ([]Recipe, error) {
	if r.NoRecipes {
		return nil, nil
	}
	b, name := builtinRecipes, "built-in recipes"
	if r.Recipes != "" {
		var err error
		if b, err = os.ReadFile(r.Recipes); err != nil {
			return nil, fmt.Errorf("--recipes: %w", err)
		}
		name = r.Recipes
	}
	list, err := ParseRecipes(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// ParseRecipes reads a file of recipes. A key that it does not know, and a
// recipe without id, why or measured, are errors.
func ParseRecipes(b []byte) ([]Recipe, error) {
	var f struct {
		About   string   `json:"about"`
		Recipes []Recipe `json:"recipes"`
	}
	if err := strict(b, &f); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, r := range f.Recipes {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("recipe %d (%s): %w", i+1, inert.Line(r.ID, noteLimit), err)
		}
		if seen[r.ID] {
			return nil, fmt.Errorf("recipe %d: there are two with the id %s", i+1, inert.Line(r.ID, noteLimit))
		}
		seen[r.ID] = true
	}
	return f.Recipes, nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (r Recipe) check() error {
	switch {
	case r.ID == "":
		return errors.New("it has no id")
	case r.Measured == "":
		return errors.New("it has no measured: a setting that nobody measured is no recipe")
	case r.Why == "":
		return errors.New("it has no why")
	case len(r.Args)+len(r.Env) == 0:
		return errors.New("it sets nothing")
	case len(r.Args) > 0 && !isFlag(r.Args[0]):
		return fmt.Errorf("its args begin with %q, which is no flag", r.Args[0])
	}
	for _, d := range r.Match.Device {
		if n, ok := devices.Parse(d); !ok || n == devices.Auto {
			return fmt.Errorf("there is no device %q", d)
		}
	}
	for _, d := range r.Match.Drafter {
		if !slices.Contains([]string{"none", "mtp", "dflash"}, d) {
			return fmt.Errorf("there is no drafter %q", d)
		}
	}
	for name := range r.Env {
		if !variable.MatchString(name) {
			return fmt.Errorf("%q is no name of a variable", name)
		}
	}
	for _, a := range r.Args {
		if isFlag(a) && strings.Contains(a, "=") { // to llama-server that is another flag, and to us none of ours
			return fmt.Errorf("its args have %q: give the flag and its value as two", a)
		}
		if slices.ContainsFunc(ours, func(o string) bool { return ability.SameFlag(o, a) }) {
			return fmt.Errorf("it may not set %s: serve does", a)
		}
	}
	return nil
}

// ours are the flags that are serve's alone to set.
var ours = []string{"-m", "--model", "--host", "--port", "--device", "--api-key", "--api-key-file"}

// strict reads one JSON value and refuses keys that v does not have.
func strict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	var typ *json.UnmarshalTypeError
	switch {
	case err == io.EOF:
		return errors.New("it is empty, not JSON")
	case errors.As(err, &typ) && typ.Field == "":
		return fmt.Errorf("it is no JSON object, but %s", typ.Value)
	case errors.As(err, &typ):
		return fmt.Errorf("%s can not be JSON's %s (at byte %d)", typ.Field, typ.Value, typ.Offset)
	case err != nil:
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is more after the end of the value")
	}
	return nil
}

// cook adds the recipes that match, in the order of the file: a flag or a
// variable that is already there stays as it is.
func (p *planner) cook(m Model, d devices.Name, args, env []string) ([]string, []string, []string) {
	var notes []string
	for _, r := range p.recipes {
		if !r.Match.fits(p.r, m, d) {
			continue
		}
		notes = append(notes, inert.Line(fmt.Sprintf("recipe %s: %s", r.ID, r.Why), noteLimit))
		for _, setting := range settings(r.Args) {
			if !slices.ContainsFunc(args, func(a string) bool { return isFlag(a) && ability.SameFlag(a, setting[0]) }) {
				args = append(args, setting...)
			}
		}
		for _, name := range sortedKeys(r.Env) {
			if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
				env = append(env, name+"="+r.Env[name])
			}
		}
	}
	return args, env, notes
}

func (m Match) fits(r Request, model Model, d devices.Name) bool {
	drafter := "none"
	switch {
	case r.MTP != "":
		drafter = "mtp"
	case r.DFlash != "":
		drafter = "dflash"
	}
	rotated, _ := model.Rotated()
	return among(m.Device, string(d)) && among(m.Architecture, model.Header().Architecture()) && among(m.Drafter, drafter) &&
		(m.MoE == nil || *m.MoE == (model.experts() > 0)) && (m.Hadamard == nil || *m.Hadamard == rotated)
}

func among(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

// settings splits arguments into flags with their values.
func settings(args []string) (list [][]string) {
	for _, a := range args {
		if isFlag(a) {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], a)
	}
	return list
}

// isFlag tells a flag from a value, which may be a negative number.
func isFlag(a string) bool {
	return len(a) > 1 && a[0] == '-' && (a[1] < '0' || a[1] > '9') && a[1] != '.'
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
