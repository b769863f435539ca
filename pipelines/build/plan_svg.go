// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"

	"github.com/1bit-MONSTER/engine/pins"
)

// The kinds of node in the drawing of a plan, besides pins.
const (
	nodeToolchain pins.NodeKind = "group" // drawn as groups are
	nodeComponent pins.NodeKind = "stack"
)

// SVG draws the plan: toolchains and sources on the left, the components that
// are built from them to the right, each after what it needs.
func (p *Plan) SVG() string {
	g := &pins.Graph{}
	seen := map[string]bool{}
	add := func(kind pins.NodeKind, name string, state pins.State) string {
		n := pins.Node{Kind: kind, Name: name, State: state}
		if !seen[n.ID()] {
			seen[n.ID()] = true
			g.Nodes = append(g.Nodes, n)
		}
		return n.ID()
	}
	depth := map[string]int{}
	hits := 0
	for _, c := range p.Components {
		id := add(nodeComponent, c.Name, "")
		depth[c.Name] = 2
		if c.State == StateHit {
			hits++
		}
		link := func(from, kind string) { g.Edges = append(g.Edges, pins.Edge{From: from, To: id, Kind: kind}) }
		link(add(nodeToolchain, c.Recipe.Toolchain, ""), "builds")
		state := pins.Verified
		if c.Inputs == nil {
			state = pins.Unlocked
		}
		for _, pin := range c.Recipe.Pins {
			link(add(pins.NodePin, pin, state), "source of")
		}
		for _, need := range c.Recipe.Needs {
			link(pins.Node{Kind: nodeComponent, Name: need}.ID(), "needed by")
			depth[c.Name] = max(depth[c.Name], depth[need]+1)
		}
	}
	return g.Draw(pins.Drawing{
		Title: "What would be built from what",
		Desc: fmt.Sprintf("Components: %d, in the store: %d. Lines lead from toolchains and sources to the components that are built from them, and from a component to those that need it; dashed frames are sources of components whose inputs are not all known.",
			len(p.Components), hits),
		Layer: func(n pins.Node) int {
			switch n.Kind {
			case nodeToolchain:
				return 0
			case pins.NodePin:
				return 1
			}
			return depth[n.Name]
		},
	})
}
