// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"sort"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

// Classes of conversations. LongDoc is decided by length alone, from
// LongDocChars characters on; the others by Laya.
const (
	Code    = "code"
	Prose   = "prose"
	Short   = "short"
	LongDoc = "long_doc"

	LongDocChars = 1024
)

// A Policy says which class of conversation goes to which device.
type Policy struct {
	MinConfidence float64          `json:"min_confidence"`
	Default       string           `json:"default"` // a device
	Classes       map[string]Class `json:"classes"`
}

// A Class is what becomes of one class.
type Class struct {
	Device string `json:"device"`
}

//go:embed policy.json
var builtinPolicy []byte

// policy returns the one of --route-policy, or the built-in one.
func (r Request) policy() (Policy, error) {
	b, name := builtinPolicy, "built-in route policy"
	if r.RoutePolicy != "" {
		var err error
		if b, err = os.ReadFile(r.RoutePolicy); err != nil {
			return Policy{}, fmt.Errorf("--route-policy: %w", err)
		}
		name = r.RoutePolicy
	}
	p, err := ParsePolicy(b)
	if err != nil {
		return Policy{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// ParsePolicy reads a policy. A class that there is not, and one without a
// device, are errors.
func ParsePolicy(b []byte) (Policy, error) {
	var p Policy
	if err := strict(b, &p); err != nil {
		return Policy{}, err
	}
	if p.MinConfidence < 0 || p.MinConfidence > 1 {
		return Policy{}, fmt.Errorf("min_confidence %v is not from 0 to 1", p.MinConfidence)
	}
	if len(p.Classes) == 0 {
		return Policy{}, fmt.Errorf("it has no classes")
	}
	if p.Default != "" {
		if err := routable(p.Default); err != nil {
			return Policy{}, fmt.Errorf("default: %w", err)
		}
	}
	for _, name := range p.names() {
		if !slices.Contains([]string{Code, Prose, Short, LongDoc}, name) {
			return Policy{}, fmt.Errorf("there is no class %q; there are code, prose, short and long_doc", name)
		}
		if p.Classes[name].Device == "" {
			return Policy{}, fmt.Errorf("class %s: it has no device", name)
		}
		if err := routable(p.Classes[name].Device); err != nil {
			return Policy{}, fmt.Errorf("class %s: %w", name, err)
		}
	}
	return p, nil
}

// routable refuses what is no device that a conversation can be sent to.
func routable(name string) error {
	d, ok := devices.Parse(name)
	if !ok || d == devices.Auto || d == devices.MLX {
		return fmt.Errorf("there is no device %q to route to", name)
	}
	return nil
}

func (p Policy) names() []string {
	names := make([]string, 0, len(p.Classes))
	for n := range p.Classes {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// devices returns the devices of the policy, each once: those of the classes
// in the order of their names, and the default.
func (p Policy) devices() (list []devices.Name) {
	for _, n := range p.names() {
		list = append(list, devices.Name(p.Classes[n].Device))
	}
	if p.Default != "" {
		list = append(list, devices.Name(p.Default))
	}
	var once []devices.Name
	for _, d := range list {
		if !slices.Contains(once, d) {
			once = append(once, d)
		}
	}
	return once
}

// Choose returns the index, in have, of the device for a conversation: the
// one of its class where the classifier is sure enough and that device is
// there, else the default one, else the first.
func (p Policy) Choose(class string, confidence float64, have []devices.Name) int {
	if confidence >= p.MinConfidence {
		if i := slices.Index(have, devices.Name(p.Classes[class].Device)); i >= 0 {
			return i
		}
	}
	return max(slices.Index(have, devices.Name(p.Default)), 0)
}
