// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package hardware knows which tests must pass on a real machine: the files
// ci/hardware/*.yaml, one a test. It is for the gate that waits for their
// evidence; who runs them reads more of each file than this package does.
package hardware

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/1bit-MONSTER/engine/pins"
	"gopkg.in/yaml.v3"
)

// Folder is where the definitions are, in the repository.
const Folder = "ci/hardware"

// A Definition is one test of one component.
type Definition struct {
	Name      string // that of the file, without .yaml
	Component string // a recipe's name
	// Digest is sha256: of the file, every byte of it: evidence is for a test as
	// it was written then.
	Digest string
	File   string // relative to the repository, with slashes
}

// maxFile is the largest definition that is read, in bytes.
const maxFile = 1 << 20

// file is a definition as it is written: name and component, and under
// definition what whoever runs it must do.
type file struct {
	Name       yaml.Node `yaml:"name"`
	Component  yaml.Node `yaml:"component"`
	What       yaml.Node `yaml:"what"`
	Definition yaml.Node `yaml:"definition"`
}

// Definitions returns the tests that root, a work tree, defines, by name. What
// is wrong in their files is pins.Errors, all at once.
func Definitions(root string) ([]Definition, error) {
	in, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	entries, err := fs.ReadDir(in.FS(), Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Definition
	var wrong pins.Errors
	for _, e := range entries { // sorted by name
		if !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		d, problems, err := load(in, path.Join(Folder, e.Name()), e)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, problems...)
		list = append(list, d)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return list, nil
}

func load(in *os.Root, name string, e fs.DirEntry) (Definition, pins.Errors, error) {
	var wrong pins.Errors
	say := func(line int, format string, args ...any) {
		wrong = append(wrong, pins.Problem{File: name, Line: max(line, 1), Text: fmt.Sprintf(format, args...)})
	}
	if !e.Type().IsRegular() {
		say(1, "it is not a regular file")
		return Definition{}, wrong, nil
	}
	f, err := in.Open(name)
	if err != nil {
		return Definition{}, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Definition{}, nil, err
	}
	if len(data) > maxFile {
		say(1, "the file is larger than %d MiB", maxFile>>20)
		return Definition{}, wrong, nil
	}
	var w file
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&w); err != nil && !errors.Is(err, io.EOF) {
		return Definition{}, pins.YAMLErrors(name, err), nil
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		say(1, "there is more than one document in the file")
	}
	sum := sha256.Sum256(data)
	d := Definition{Name: w.Name.Value, Component: w.Component.Value, Digest: "sha256:" + hex.EncodeToString(sum[:]), File: name}
	for _, n := range []struct {
		key  string
		node *yaml.Node
	}{{"name", &w.Name}, {"component", &w.Component}} {
		if n.node.Kind != yaml.ScalarNode || !plainName.MatchString(n.node.Value) {
			say(n.node.Line, "%s: want a name of a-z, 0-9 and -", n.key)
		}
	}
	if want := strings.TrimSuffix(path.Base(name), ".yaml"); len(wrong) == 0 && d.Name != want {
		say(w.Name.Line, "name: it is %q and the file is called %s.yaml", d.Name, want)
	}
	return d, wrong, nil
}

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
