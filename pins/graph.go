// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Graph is how pins hang together.
type Graph struct {
	Nodes []Node `json:"nodes"` // by kind and name
	Edges []Edge `json:"edges"` // by ends and kind
}

// A NodeKind says what a node of a Graph stands for.
type NodeKind string

// The kinds of node.
const (
	NodeGroup      NodeKind = "group"
	NodeRepository NodeKind = "repository" // one that is only read for what it names
	NodePin        NodeKind = "pin"
	NodeStack      NodeKind = "stack"
)

// A Node is a pin, or what one hangs on.
type Node struct {
	Kind  NodeKind `json:"kind"`
	Name  string   `json:"name"`
	State State    `json:"state,omitempty"` // of a pin
}

// ID is unique among the nodes of a graph.
func (n Node) ID() string { return string(n.Kind) + ":" + n.Name }

// An Edge leads from what is followed, or holds, to what follows it.
type Edge struct {
	From string `json:"from"` // Node.ID
	To   string `json:"to"`
	Kind string `json:"kind"` // member, of, contract, stack
}

// Graph returns how the pins hang together.
func (s *Set) Graph() *Graph {
	g := &Graph{}
	seen := map[string]bool{}
	node := func(n Node) string {
		if !seen[n.ID()] {
			seen[n.ID()] = true
			g.Nodes = append(g.Nodes, n)
		}
		return n.ID()
	}
	pin := func(name string) string { return Node{Kind: NodePin, Name: name}.ID() }
	edge := func(from, to, kind string) { g.Edges = append(g.Edges, Edge{from, to, kind}) }
	for _, p := range s.Pins {
		id := node(Node{NodePin, p.Name, p.State()})
		if of := p.Track.OfPin(); of != "" {
			edge(pin(of), id, "of")
		} else if p.Track.Of != "" {
			edge(node(Node{Kind: NodeRepository, Name: shortURL(p.Track.Of)}), id, "of")
		}
		if p.Stack != "" {
			edge(id, node(Node{Kind: NodeStack, Name: p.Stack}), "stack")
		}
	}
	for _, group := range s.Groups {
		id := node(Node{Kind: NodeGroup, Name: group.Name})
		for _, m := range group.Members {
			edge(id, pin(m), "member")
		}
		for _, c := range group.Contracts {
			edge(pin(c.Provider.Pin), pin(c.User.Pin), "contract")
		}
	}
	slices.SortFunc(g.Nodes, func(a, b Node) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	g.Edges = slices.Compact(g.Edges)
	return g
}

// shortURL is a repository's address as people say it.
func shortURL(u string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(u, "https://"), "github.com/"), ".git")
}

// DOT returns the graph in Graphviz's language.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph pins {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n")
	shapes := map[NodeKind]string{NodeGroup: "folder", NodeRepository: "cylinder", NodePin: "box", NodeStack: "note"}
	for _, n := range g.Nodes {
		style := ""
		if n.Kind == NodePin && n.State != Verified {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s [label=%s, shape=%s%s];\n", dotText(n.ID()), dotText(n.Name), shapes[n.Kind], style)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s [label=%s];\n", dotText(e.From), dotText(e.To), dotText(e.Kind))
	}
	b.WriteString("}\n")
	return b.String()
}

func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// Uses says who depends on a pin.
type Uses struct {
	Name      string   `json:"name"`
	What      string   `json:"what"`
	Group     string   `json:"group,omitempty"`
	Siblings  []string `json:"siblings,omitempty"`  // the other members of its group
	Follows   string   `json:"follows,omitempty"`   // the pin or repository that its version is read from
	Followers []string `json:"followers,omitempty"` // pins whose version is read from it
	Contracts []string `json:"contracts,omitempty"` // pins held together with it by identifiers
	Stack     string   `json:"stack,omitempty"`
	Recipes   []string `json:"recipes,omitempty"` // components that are built from it
}

// None reports whether nothing at all needs the pin.
func (u *Uses) None() bool {
	return u.Group == "" && len(u.Followers) == 0 && u.Stack == "" && len(u.Recipes) == 0
}

// Why returns who depends on a pin; recipes gives the pins that each component
// is built from. The error is a usage error for an unknown name.
func (s *Set) Why(name string, recipes map[string][]string) (*Uses, error) {
	p, err := s.Named(name)
	if err != nil {
		return nil, err
	}
	u := &Uses{Name: name, What: p.What, Stack: p.Stack, Follows: p.Track.Of}
	if g := s.GroupOf(name); g != nil {
		u.Group = g.Name
		for _, m := range g.Members {
			if m != name {
				u.Siblings = append(u.Siblings, m)
			}
		}
		for _, c := range g.Contracts {
			switch name {
			case c.User.Pin:
				u.Contracts = append(u.Contracts, c.Provider.Pin)
			case c.Provider.Pin:
				u.Contracts = append(u.Contracts, c.User.Pin)
			}
		}
	}
	for _, q := range s.Pins {
		if q.Track.OfPin() == name {
			u.Followers = append(u.Followers, q.Name)
		}
	}
	for recipe, needs := range recipes {
		if slices.Contains(needs, name) {
			u.Recipes = append(u.Recipes, recipe)
		}
	}
	slices.Sort(u.Contracts)
	slices.Sort(u.Recipes)
	return u, nil
}
