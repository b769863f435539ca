// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// A Space is a key space: what was built with less than all walls never stands
// where a proper build looks.
type Space string

// The key spaces.
const (
	Sandboxed Space = ""           // in a sandbox, with the pinned toolchain
	HostTools Space = "host-tools" // in a sandbox, with the machine's tools
	NoSandbox Space = "no-sandbox" // in sight of the whole machine, and with its tools
	// NetworkOpen is for a container with the pinned toolchain that could not be
	// shut off from the network.
	NetworkOpen Space = "network-open"
)

// pinned reports whether the steps have the pinned toolchain.
func (s Space) pinned() bool { return s == Sandboxed || s == NetworkOpen }

// Inputs are everything that the bytes of a component follow from. Its digest
// is the component's key.
type Inputs struct {
	Recipe    string   `json:"recipe"`
	CPU       CPU      `json:"cpu,omitempty"`
	Space     Space    `json:"space,omitempty"`
	Toolchain Sum      `json:"toolchain"`
	Sources   []Sum    `json:"sources"`           // by name: a pin, or engine
	Downloads []Sum    `json:"downloads"`         // inputs of pins, Go modules
	Needs     []Sum    `json:"needs,omitempty"`   // components, by their keys
	Env       []string `json:"env,omitempty"`     //
	Steps     []Step   `json:"steps"`             // as they run
	Outputs   []string `json:"outputs"`           //
	Epoch     int64    `json:"source-date-epoch"` // seconds since 1970
}

// A Sum is something that goes in, by the digest of its content.
type Sum struct {
	Name string `json:"name"`
	Sum  string `json:"sum"`
}

// Key returns the store's key of what is built from in.
func (in *Inputs) Key() (store.Key, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	return store.KeyOf(fmt.Sprintf("in:%x", sha256.Sum256(data)))
}

// inputsOf collects the inputs of a recipe from the locks. A pin that is not
// verified, or an input that has no sum, is an error: nothing else is built.
func (o PlanOptions) inputs(r *Recipe, cpu CPU, keys map[string]store.Key) (*Inputs, error) {
	set, space := o.Set, o.Space
	in := &Inputs{Recipe: r.Name, CPU: cpu, Space: space, Outputs: r.Outputs}
	var err error
	if in.Env, in.Steps, err = r.expand(set, cpu); err != nil {
		return nil, err
	}
	var epoch time.Time
	for _, name := range r.Pins {
		p, err := Verified(set, name)
		if err != nil {
			return nil, fmt.Errorf("recipe %s: %w", r.Name, err)
		}
		in.Sources = append(in.Sources, Sum{name, sourceSum(p)})
		downloads, err := downloadsOf(p)
		if err != nil {
			return nil, fmt.Errorf("recipe %s: %w", r.Name, err)
		}
		in.Downloads = append(in.Downloads, downloads...)
		if p.Lock.Date.After(epoch) {
			epoch = p.Lock.Date
		}
	}
	for _, name := range r.Needs {
		key, ok := keys[name]
		if !ok {
			return nil, verdict.Failf("recipe %s needs %s, whose inputs are not all known", r.Name, name)
		}
		in.Needs = append(in.Needs, Sum{name, string(key)})
	}
	in.Epoch = epoch.Unix()
	if !space.pinned() { // without a sandbox there is no other root than the machine's
		if in.Toolchain, err = o.hostTools(r); err != nil {
			return nil, fmt.Errorf("recipe %s: %w", r.Name, err)
		}
		return in, nil
	}
	p, err := Verified(set, r.Toolchain)
	if err != nil {
		return nil, fmt.Errorf("recipe %s: %w", r.Name, err)
	}
	sum, err := toolchain.Sum(p)
	if err != nil {
		return nil, fmt.Errorf("recipe %s: %w", r.Name, err)
	}
	in.Toolchain = Sum{r.Toolchain, sum}
	if len(r.Pins) == 0 {
		in.Epoch = p.Lock.Date.Unix()
	}
	return in, nil
}

// hostTools is the machine's own tools in the place of a toolchain.
func (o PlanOptions) hostTools(r *Recipe) (Sum, error) {
	if len(r.Tools) == 0 {
		return Sum{}, verdict.Usagef("it is not built with the machine's tools")
	}
	digest, missing, err := toolchain.HostTools(o.Context, o.ToolMemory, os.Getenv("PATH"), r.Tools)
	if err != nil {
		return Sum{}, err
	}
	if len(missing) > 0 {
		return Sum{}, &toolchain.MissingTools{Tools: missing}
	}
	return Sum{string(HostTools), digest}, nil
}

// Verified returns a pin whose lock may be built from.
func Verified(set *pins.Set, name string) (*pins.Pin, error) {
	p, err := set.Named(name)
	if err != nil {
		return nil, err
	}
	if s := p.State(); s != pins.Verified {
		return nil, verdict.Failf("pin %s is %s: only verified locks are built; run 'dist pins update %s'", name, s, name)
	}
	return p, nil
}

// sourceSum is the sum of a pin's tree with our patches, if it has some.
func sourceSum(p *pins.Pin) string {
	if p.Lock.Patched != nil {
		return p.Lock.Patched.Sum
	}
	return p.Lock.Sum
}

// downloadsOf returns a pin's inputs that are given to the build.
func downloadsOf(p *pins.Pin) ([]Sum, error) {
	var sums []Sum
	for _, i := range p.Lock.Inputs {
		if i.Kind == pins.InputUnused {
			continue
		}
		sum := i.Sum
		if sum == "" && i.SHA256 != "" {
			sum = "sha256:" + i.SHA256
		}
		if sum == "" {
			return nil, verdict.Failf("pin %s: its input %s has no sum; run 'dist pins update %s'", p.Name, i.Name, p.Name)
		}
		sums = append(sums, Sum{p.Name + "/" + i.Name, sum})
	}
	return sums, nil
}
