// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package inputs describes a folder with everything that builds of some
// components need and nothing else: locked sources, toolchains and Go modules,
// verified when they came there. It is for machines that have no network, and
// for Dagger engines, which get the folder as a Directory. The folder is a cache
// of dist (DIST_CACHE) with the file inputs.json in it.
//
// Limits: it is made for one state of the locks. What moved since is found by
// [Manifest.Check]; sources of this repository are not in it.
package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// Names in the folder.
const (
	File    = "inputs.json"
	Modules = "go/mod/cache/download" // Go modules, in the layout of a module proxy
)

// Folder is where the folder lies in the repository, unless another is named.
const Folder = ".dagger-inputs"

// Checks is what asks for the inputs of tests and checks, beside components.
const Checks = "checks"

// schema is the version of the file.
const schema = 1

// A Manifest says what a folder has.
type Manifest struct {
	Schema  int      `json:"schema"`
	For     []string `json:"for"`            // components, and Checks; sorted
	Go      string   `json:"go"`             // the folder of the pinned Go, its GOROOT
	GoSum   string   `json:"go-sum"`         // its sum, as in the lock
	Root    string   `json:"root,omitempty"` // a root file system with bash, git and a C compiler
	Modules string   `json:"modules"`        // ModulesSum of the repository
}

// Parse reads a manifest. The error is a sentence that says what to do.
func Parse(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, verdict.Usagef("%s is damaged (%s): %s", File, err, again(nil))
	}
	if m.Schema != schema {
		return nil, verdict.Usagef("%s has the schema %d, not %d: %s", File, m.Schema, schema, again(m.For))
	}
	return &m, nil
}

// Missing is the error where a folder has no inputs for what was asked for, or
// is not there; had is what it has, which the next one is to have too.
func Missing(what string, had ...string) error {
	return verdict.Usagef("there are no verified inputs for %s: run '%s' in the repository, which puts them into %s, or name such a folder with --inputs", what, fetch(append(slices.Clone(had), what)), Folder)
}

// Check finds what was asked for and is not there, and whether the pin go and
// the lists of modules are still those of the repository.
func (m *Manifest) Check(goPin, modules []byte, wanted ...string) error {
	for _, w := range wanted {
		if !slices.Contains(m.For, w) {
			return Missing(w, m.For...)
		}
	}
	p, err := pins.Parse(goPin, "pins/go.yaml")
	if err != nil {
		return err
	}
	switch {
	case p.Lock == nil || p.Lock.Sum != m.GoSum:
		return verdict.Usagef("the pin go has moved since the inputs were fetched: %s", again(m.For))
	case ModulesSum(modules) != m.Modules:
		return verdict.Usagef("go.sum has changed since the inputs were fetched: %s", again(m.For))
	}
	return nil
}

// ModulesSum identifies the Go modules that a go.sum names.
func ModulesSum(goSum []byte) string {
	sum := sha256.Sum256(goSum)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Encode returns the file's content.
func (m Manifest) Encode() ([]byte, error) {
	m.Schema = schema
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

func again(names []string) string { return fmt.Sprintf("run '%s' again", fetch(names)) }

// fetch is the command that makes a folder.
func fetch(names []string) string {
	if len(names) == 0 {
		names = []string{"serve"}
	}
	return "go run ./cmd/dist fetch --for " + strings.Join(names, " --for ")
}
