// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package pins is what this distribution follows: one YAML file for each
// upstream, with how its newest version is found (the track) and what we use
// now (the lock), and groups.yaml for those that move together.
//
// The package reads and checks these files, orders versions by their schemes,
// and writes locks, holds and rejections back without touching the rest of a
// file. It is for the commands and pipelines that resolve, fetch and build; it
// never asks the network, and knows nothing of patches or recipes.
package pins

import "time"

// A Pin is one upstream that we follow.
type Pin struct {
	Name      string    `yaml:"name" json:"name"`         // [a-z0-9-]+, also the name of its file and folders
	What      string    `yaml:"what" json:"what"`         // what we use it for, one short line
	Upstream  string    `yaml:"upstream" json:"upstream"` // https address of its repository or site; none for some kinds
	License   string    `yaml:"license" json:"license"`   // SPDX expression
	Copyright []string  `yaml:"copyright" json:"copyright,omitempty"`
	Use       Use       `yaml:"use" json:"use"`
	Track     Track     `yaml:"track" json:"track"`
	Keys      []Key     `yaml:"keys" json:"keys,omitempty"`       // what the upstream signs with; none: nobody looks
	Stack     string    `yaml:"stack" json:"stack,omitempty"`     // name of our patches on it
	Exclude   []Exclude `yaml:"exclude" json:"exclude,omitempty"` // blobs that a mirror may lack
	Hold      *Hold     `yaml:"hold" json:"hold,omitempty"`
	Reject    []Reject  `yaml:"reject" json:"reject,omitempty"`
	Lock      *Lock     `yaml:"lock" json:"lock,omitempty"`

	file  string
	lines map[string]int
}

// A Use says how the engine uses a pin; NOTICE is ordered by it.
type Use string

// The uses of a pin.
const (
	Linked    Use = "linked"     // compiled or linked into what we ship
	Child     Use = "child"      // shipped as a program of its own that the engine starts
	BuildTool Use = "build-tool" // used to build, not shipped
	Model     Use = "model"      // weights that users fetch, not shipped
	Image     Use = "image"      // part of an operating system image
)

// An Exclude is a path that is never fetched nor materialised: an exact path
// or a whole submodule.
type Exclude struct {
	Path string `yaml:"path" json:"path"`
	Why  string `yaml:"why" json:"why"`
}

// A Hold stops a pin from moving, with the reason.
type Hold struct {
	Reason string `yaml:"reason" json:"reason"`
	Until  Day    `yaml:"until" json:"until,omitempty"` // the last day it holds; none: until somebody ends it
	Issue  string `yaml:"issue" json:"issue,omitempty"` // number in our tracker, or an https address
}

// Active reports whether the hold still holds at now.
func (h *Hold) Active(now time.Time) bool {
	return h != nil && (h.Until == "" || now.Before(h.Until.End()))
}

// A Reject is a version that is never locked again. In a file it is the bare
// id, or {id, why}.
type Reject struct {
	ID  string `yaml:"id" json:"id"` // a full commit, or a version for kinds without commits
	Why string `yaml:"why" json:"why,omitempty"`
}

// A Day is a calendar day in UTC, as 2006-01-02.
type Day string

// End returns the first moment after the day; the zero time for a Day that is
// none.
func (d Day) End() time.Time {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return time.Time{}
	}
	return t.AddDate(0, 0, 1)
}

// File returns the name of the file that the pin was read from, as shown in
// problems.
func (p *Pin) File() string { return p.file }

// Line returns the line of a value, such as "track.kind" or
// "lock.files[2].sha256": that of the nearest value around it that the file has.
func (p *Pin) Line(path string) int { return lineOf(p.lines, path) }

// Rejected reports whether a commit or version must not be locked.
func (p *Pin) Rejected(id string) (Reject, bool) {
	for _, r := range p.Reject {
		if r.ID == id {
			return r, true
		}
	}
	return Reject{}, false
}

// A State says how far the lock of a pin has come.
type State string

// The states of a pin.
const (
	Unlocked State = "unlocked" // no lock: it was never resolved
	Resolved State = "resolved" // we know which version, its content was not summed
	Verified State = "verified" // its content was fetched and summed; only this is built
)

// State returns how far the pin's lock has come; what makes it verified depends
// on the kind of its track.
func (p *Pin) State() State {
	l := p.Lock
	if l == nil {
		return Unlocked
	}
	ok := false
	switch p.Track.Kind {
	case GitBranch, GitTag, Gitlink:
		ok = l.Commit != "" && l.Sum != ""
	case GithubRelease:
		ok = l.Commit != "" && l.Sum != "" || len(p.Track.Assets) > 0
		if len(p.Track.Assets) > 0 {
			ok = l.filesSummed()
		}
	case GoModule:
		ok = l.Version != "" && l.Sum != ""
	case OCI:
		ok = l.Digest != ""
	case Manual:
		ok = l.Sum != "" || l.Digest != "" || l.filesSummed()
	case Field, Index, HuggingFace, Deb:
		ok = l.filesSummed()
	}
	if ok {
		return Verified
	}
	return Resolved
}

// ViaMirror reports whether the lock was written through a mirror that stands
// in for the upstream: it may be built, and is never released.
func (p *Pin) ViaMirror() bool { return p.Lock != nil && p.Lock.ViaMirror != nil }
