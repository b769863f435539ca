// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/store"
)

// A Change is one input of a component that is not as it was when the
// component was last built.
type Change struct {
	What string `json:"what"` // toolchain, source zinc, step build, ...
	From string `json:"from"` // empty: it was not there
	To   string `json:"to"`   // empty: it is not there any more
}

func (c Change) String() string {
	switch {
	case c.From == "":
		return fmt.Sprintf("%s is new: %s", c.What, c.To)
	case c.To == "":
		return fmt.Sprintf("%s is gone: %s", c.What, c.From)
	}
	return fmt.Sprintf("%s changed from %s to %s", c.What, c.From, c.To)
}

// Explain says why a component would be built: what of its inputs changed since
// the newest output of it in the store. last is nil where there is none.
func Explain(st *store.Store, c *PlannedComponent) (last *store.Entry, changes []Change, err error) {
	if c.Inputs == nil {
		return nil, nil, c.err
	}
	all, err := st.List()
	if err != nil {
		return nil, nil, err
	}
	for _, e := range all {
		if e.Meta["recipe"] == c.Name && e.Meta["space"] == string(c.Inputs.Space) && (last == nil || e.Created.After(last.Created)) {
			last = e
		}
	}
	if last == nil {
		return nil, nil, nil
	}
	var then Inputs
	if err := json.Unmarshal([]byte(last.Meta["inputs"]), &then); err != nil {
		return nil, nil, fmt.Errorf("the record of %s: %w", last.Key, err)
	}
	return last, differences(then.facts(), c.Inputs.facts()), nil
}

// facts are the inputs as names with values.
func (in *Inputs) facts() map[string]string {
	f := map[string]string{
		"toolchain":         in.Toolchain.Name + " " + in.Toolchain.Sum,
		"source date epoch": fmt.Sprint(in.Epoch),
		"outputs":           strings.Join(in.Outputs, " "),
	}
	if in.CPU != "" {
		f["processor"] = string(in.CPU)
	}
	for kind, sums := range map[string][]Sum{"source": in.Sources, "download": in.Downloads, "component": in.Needs} {
		for _, s := range sums {
			f[kind+" "+s.Name] = s.Sum
		}
	}
	for _, kv := range in.Env {
		name, value, _ := strings.Cut(kv, "=")
		f["variable "+name] = value
	}
	for _, s := range in.Steps {
		f["step "+s.Name] = strings.Join(append(slices.Clone(s.Env), s.Args...), " ")
	}
	return f
}

func differences(then, now map[string]string) []Change {
	var changes []Change
	for what, to := range now {
		if from := then[what]; from != to {
			changes = append(changes, Change{what, from, to})
		}
	}
	for what, from := range then {
		if _, still := now[what]; !still {
			changes = append(changes, Change{what, from, ""})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.What, b.What) })
	return changes
}
