// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import "time"

// A Lock is what we use now. It is written by programs only; a resolved one
// says which version, a verified one also carries the sums of its content.
type Lock struct {
	Version string    `yaml:"version" json:"version,omitempty"` // tag or version, as the upstream writes it
	Tag     string    `yaml:"tag" json:"tag,omitempty"`         // id of the annotated tag object, if it is one
	Commit  string    `yaml:"commit" json:"commit,omitempty"`   // 40 hex digits
	Tree    string    `yaml:"tree" json:"tree,omitempty"`       // 40 hex digits
	Sum     string    `yaml:"sum" json:"sum,omitempty"`         // t1: of a tree, h1: of a Go module
	Digest  string    `yaml:"digest" json:"digest,omitempty"`   // sha256: of an image
	Date    time.Time `yaml:"date" json:"date,omitzero"`        // committer date or time of publication, UTC

	Via       *Via       `yaml:"via" json:"via,omitempty"`
	ViaMirror *ViaMirror `yaml:"via-mirror" json:"via-mirror,omitempty"`
	Accepted  *Accepted  `yaml:"accepted" json:"accepted,omitempty"`

	Submodules []Submodule   `yaml:"submodules" json:"submodules,omitempty"` // recursive, sorted by path
	Patched    *Patched      `yaml:"patched" json:"patched,omitempty"`
	Excluded   []Excluded    `yaml:"excluded" json:"excluded,omitempty"`
	Files      []File        `yaml:"files" json:"files,omitempty"`
	Inputs     []Input       `yaml:"inputs" json:"inputs,omitempty"`
	Licenses   []LicenseFile `yaml:"licenses" json:"licenses,omitempty"`
}

// ID returns what identifies the locked version: its commit, else its digest,
// else its version.
func (l *Lock) ID() string {
	switch {
	case l == nil:
		return ""
	case l.Commit != "":
		return l.Commit
	case l.Digest != "":
		return l.Digest
	}
	return l.Version
}

func (l *Lock) filesSummed() bool {
	for _, f := range l.Files {
		if f.SHA256 == "" {
			return false
		}
	}
	return len(l.Files) > 0
}

// A Via is where in its integration repository a gitlink was read.
type Via struct {
	Commit string `yaml:"commit" json:"commit"` // of the integration repository
	Path   string `yaml:"path" json:"path"`
	URL    string `yaml:"url" json:"url"` // the submodule's address as written there
	Branch string `yaml:"branch" json:"branch,omitempty"`
}

// A ViaMirror marks a lock that no real upstream has confirmed yet.
type ViaMirror struct {
	StandsIn string `yaml:"stands-in" json:"stands-in"` // the repository that was read instead
}

// An Accepted records that a person took a version that the rules refuse.
type Accepted struct {
	From string `yaml:"from" json:"from"`
	To   string `yaml:"to" json:"to"`
	Why  string `yaml:"why" json:"why"`
	By   string `yaml:"by" json:"by"`
	Date Day    `yaml:"date" json:"date"`
}

// A Submodule is a repository inside the locked one.
type Submodule struct {
	Path   string `yaml:"path" json:"path"`
	URL    string `yaml:"url" json:"url"` // resolved, not relative
	Commit string `yaml:"commit" json:"commit"`
	Sum    string `yaml:"sum" json:"sum,omitempty"`
}

// A Patched is the tree after our stack, and after each of its patches.
type Patched struct {
	Tree  string `yaml:"tree" json:"tree"`
	Sum   string `yaml:"sum" json:"sum"`
	Steps []Step `yaml:"steps" json:"steps,omitempty"`
}

// A Step is one patch and the tree that it leads to.
type Step struct {
	File string `yaml:"file" json:"file"`
	Tree string `yaml:"tree" json:"tree"`
}

// An Excluded is an entry of the tree that was not fetched.
type Excluded struct {
	Path string `yaml:"path" json:"path"`
	Mode string `yaml:"mode" json:"mode"` // as git writes it: 100644
	ID   string `yaml:"id" json:"id"`     // of the blob, or the commit of a submodule
	Size int64  `yaml:"size" json:"size"` // bytes; 0 for a submodule
}

// A File is one locked download.
type File struct {
	Name     string `yaml:"name" json:"name"`
	Version  string `yaml:"version" json:"version,omitempty"` // deb: of this package
	Platform string `yaml:"platform" json:"platform,omitempty"`
	URL      string `yaml:"url" json:"url,omitempty"`   // none for Debian packages: the archive is a matter of the machine
	Path     string `yaml:"path" json:"path,omitempty"` // below the archive's or repository's root
	SHA256   string `yaml:"sha256" json:"sha256"`
	Size     int64  `yaml:"size" json:"size"` // bytes
}

// An InputKind says what a build's extra input is.
type InputKind string

// The kinds of input.
const (
	InputGit         InputKind = "git"
	InputFile        InputKind = "file"
	InputGoModules   InputKind = "go-modules"
	InputCargoVendor InputKind = "cargo-vendor"
	InputNPM         InputKind = "npm"
	InputUnused      InputKind = "unused"
)

// An Input is something that the upstream's build would download: given to the
// build instead, or unused with the reason.
type Input struct {
	Name       string    `yaml:"name" json:"name"`
	Kind       InputKind `yaml:"kind" json:"kind"`
	DeclaredIn string    `yaml:"declared-in" json:"declared-in"` // the file that declares the download
	URL        string    `yaml:"url" json:"url,omitempty"`
	Commit     string    `yaml:"commit" json:"commit,omitempty"` // git
	Rev        string    `yaml:"rev" json:"rev,omitempty"`       // git: the tag or branch that the file asks for, where it names no commit
	SHA256     string    `yaml:"sha256" json:"sha256,omitempty"` // of the file; for unused of the declaring file
	Size       int64     `yaml:"size" json:"size,omitempty"`     // bytes
	Sum        string    `yaml:"sum" json:"sum,omitempty"`       // t1: of the tree
	Give       string    `yaml:"give" json:"give,omitempty"`     // the variable that tells the build where it is
	Why        string    `yaml:"why" json:"why,omitempty"`       // unused
}

// A LicenseFile is a licence text of the upstream, to see when it changes.
type LicenseFile struct {
	Path   string `yaml:"path" json:"path"`
	SHA256 string `yaml:"sha256" json:"sha256"`
}
