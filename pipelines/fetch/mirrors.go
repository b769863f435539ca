// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Mirrors say where something is read instead of at its own address. The file:
//
//	allow-http: true                  # mapped addresses may be http
//	debian: https://mirror.example/debian
//	crates: https://mirror.example/crates # a sparse index
//	urls:                             # the longest prefix wins
//	  https://github.com/: https://mirror.example/github/
//	  https://github.com/ggml-org/llama.cpp.git:
//	    to: /srv/mirror/llama.cpp.git # a folder, or a file address
//	    stands-in: ngxson/llama.cpp   # it is another repository than the upstream
//	images:                           # registry and repository
//	  docker.io/: mirror.example/docker/
//
// A nil Mirrors maps nothing.
type Mirrors struct {
	AllowHTTP bool              `yaml:"allow-http"`
	Debian    string            `yaml:"debian"` // address of the archive
	Crates    string            `yaml:"crates"` // address of a sparse index
	URLs      map[string]Mirror `yaml:"urls"`
	Images    map[string]Mirror `yaml:"images"`
}

// A Mirror is one entry: in the file a bare address, or a mapping.
type Mirror struct {
	To string `yaml:"to"` // takes the prefix's place
	// StandsIn is the repository whose content this is; empty for an exact
	// copy of what it is a mirror of.
	StandsIn string `yaml:"stands-in"`
}

// UnmarshalYAML also reads a bare address.
func (m *Mirror) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&m.To)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value != "to" && k.Value != "stands-in" {
			return fmt.Errorf("line %d: a mirror has no %q: it has to and stands-in", k.Line, k.Value)
		}
	}
	type plain Mirror
	return n.Decode((*plain)(m))
}

// A Place is where something is read.
type Place struct {
	URL      string // an address, or the absolute path of a folder or file
	Mapped   bool   // by a mirror: it may be http, local and on this machine
	StandsIn string // what a lock says: the repository that was read instead
}

// Local reports whether the place is a path on this machine.
func (p Place) Local() bool { return filepath.IsAbs(p.URL) }

// LoadMirrors reads the file of that name; no name is no mirrors.
func LoadMirrors(path string) (*Mirrors, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readSmall(path)
	if err != nil {
		return nil, verdict.Usagef("the mirrors file cannot be read: %s", err)
	}
	m := &Mirrors{}
	if err := decodeStrict(data, m); err != nil {
		return nil, verdict.Usagef("the mirrors file %s: %s", path, err)
	}
	if err := m.check(filepath.Dir(path)); err != nil {
		return nil, verdict.Usagef("the mirrors file %s: %s", path, err)
	}
	return m, nil
}

// longestMirrors bounds a mirrors file, in bytes.
const longestMirrors = 4 << 20

// readSmall reads a regular file of at most longestMirrors.
func readSmall(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case st.Size() > longestMirrors:
		return nil, fmt.Errorf("%s is larger than %d MiB", path, longestMirrors>>20)
	}
	return os.ReadFile(path)
}

// check refuses what cannot be meant, and makes relative folders absolute.
func (m *Mirrors) check(dir string) error {
	for from, to := range m.URLs {
		if u, err := url.Parse(from); err != nil || u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("%q is not the beginning of an https address", from)
		}
		t, err := m.target(to.To, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		if strings.ContainsFunc(to.StandsIn, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("%s: stands-in has control characters", from)
		}
		m.URLs[from] = Mirror{To: t, StandsIn: to.StandsIn}
	}
	for from, to := range m.Images {
		if from == "" || to.To == "" || strings.HasPrefix(to.To, "-") {
			return fmt.Errorf("%q: an image needs a registry and repository to be read from", from)
		}
	}
	if m.Debian != "" {
		t, err := m.target(m.Debian, dir)
		if err != nil {
			return fmt.Errorf("debian: %w", err)
		}
		m.Debian = t
	}
	if m.Crates != "" {
		t, err := m.target(m.Crates, dir)
		if err != nil {
			return fmt.Errorf("crates: %w", err)
		}
		m.Crates = t
	}
	return nil
}

func (m *Mirrors) target(to, dir string) (string, error) {
	if path, ok := strings.CutPrefix(to, "file://"); ok {
		to = path
	}
	u, err := url.Parse(to)
	switch {
	case to == "" || strings.HasPrefix(to, "-") || err != nil:
		return "", fmt.Errorf("%q is neither an address nor a folder", to)
	case u.Scheme == "https":
	case u.Scheme == "http":
		if !m.AllowHTTP {
			return "", fmt.Errorf("%s is not https: say allow-http: true if that is meant", to)
		}
	case u.Scheme != "" || strings.Contains(to, "::"):
		return "", fmt.Errorf("%q is neither https nor a folder", to)
	default:
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if to, err = filepath.Abs(to); err != nil {
			return "", err
		}
	}
	return to, nil
}

// Place returns where an address is read.
func (m *Mirrors) Place(address string) Place {
	if m == nil {
		return Place{URL: address}
	}
	return placeIn(m.URLs, address)
}

// Image returns the registry and repository where an image is read.
func (m *Mirrors) Image(name string) Place {
	if m == nil {
		return Place{URL: name}
	}
	return placeIn(m.Images, name)
}

func placeIn(all map[string]Mirror, name string) Place {
	from, to, ok := longest(all, name)
	if !ok {
		return Place{URL: name}
	}
	p := Place{URL: join(to.To, name[len(from):]), Mapped: true, StandsIn: to.StandsIn}
	if p.StandsIn == "" {
		p.StandsIn = name
	}
	return p
}

// longest returns the longest prefix that ends where a name ends: the prefix
// https://a/b is none of https://a/bc.
func longest(all map[string]Mirror, s string) (from string, to Mirror, ok bool) {
	for prefix, mirror := range all {
		rest, is := strings.CutPrefix(s, prefix)
		if !is || len(prefix) < len(from) {
			continue
		}
		if rest == "" || strings.HasSuffix(prefix, "/") || rest[0] == '/' || rest == ".git" {
			from, to, ok = prefix, mirror, true
		}
	}
	return from, to, ok
}

// join puts the rest of an address behind a mirror's. A rest that climbs out of
// the mirror stays inside it.
func join(to, rest string) string {
	rest = strings.TrimPrefix(rest, "/")
	if rest == "" || rest == ".git" && !strings.HasSuffix(to, "/") {
		return to
	}
	if filepath.IsAbs(to) {
		return filepath.Join(to, filepath.FromSlash(filepath.Clean("/"+rest)))
	}
	return strings.TrimSuffix(to, "/") + "/" + rest
}

// Remote returns the git remote of a place.
func (p Place) Remote() git.Remote {
	r := git.Remote{URL: p.URL}
	if p.Mapped {
		r.Allow = []string{"http", "file"}
	}
	return r
}
