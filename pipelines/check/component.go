// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"

	"github.com/1bit-MONSTER/engine/pins"
)

// A Component is a third party's work and how it is used here.
type Component struct {
	Name      string
	What      string // a few words; may be empty
	Where     string // URL or module path
	Version   string
	License   string // SPDX expression
	Copyright []string
	Use       Use
	Texts     []Text // licences and notices that go with the shipped binary
}

// A Text is a file that a licence asks to be handed on.
type Text struct{ Name, Body string }

// A Use is how a component is used; NOTICE has one section for each.
type Use string

// The uses; those of pins are the words of their field use.
const (
	Linked    Use = "linked"     // into 1bit
	Child     Use = "child"      // a program that 1bit starts
	Model     Use = "model"      // read at run time
	Image     Use = "image"      // a container image that ours are made on
	BuildTool Use = "build-tool" // runs in a build, is not in its output
	DistOnly  Use = "dist"       // linked into dist, not into 1bit
	TestsOnly Use = "tests"      // linked into tests only, or elsewhere: never shipped
)

// goRuntime is what the toolchain adds to every program that it builds.
var goRuntime = Component{
	Name: "Go", What: "the run-time and standard library of Go", Where: "https://go.dev",
	License: "BSD-3-Clause", Copyright: []string{"2009 The Go Authors"}, Use: Linked,
}

// toolchainPin is the pin that says which Go that is.
const toolchainPin = "go"

// Pinned returns the pins as components.
func Pinned(set *pins.Set) []Component {
	var list []Component
	for _, p := range set.Pins {
		where := cmp.Or(p.Upstream, p.Track.Module, p.Track.Repo, p.Track.URL)
		c := Component{Name: p.Name, What: p.What, Where: where, License: p.License, Copyright: p.Copyright, Use: Use(p.Use)}
		if p.Lock != nil {
			c.Version = cmp.Or(p.Lock.Version, p.Lock.Commit)
		}
		list = append(list, c)
	}
	return list
}
