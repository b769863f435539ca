// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A Crate is a package from a registry, as Cargo.lock names it.
type Crate struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // of the .crate file, 64 hex digits
	Source  string `json:"source"` // registry+… or sparse+…
}

// Folder is the crate's folder in a vendor folder, and the top folder of its
// .crate file.
func (c Crate) Folder() string { return c.Name + "-" + c.Version }

// A GitCrate is a package from a git repository.
type GitCrate struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Source  string `json:"source"` // as Cargo.lock has it
	URL     string `json:"url"`
	Ref     string `json:"ref,omitempty"` // branch=…, tag=… or rev=…, as the manifest asks
	Commit  string `json:"commit"`        // 40 hex digits
}

// A CargoLock is what a Cargo.lock makes Cargo download.
type CargoLock struct {
	Version int        `json:"version"` // of the format, 1 to 4
	Crates  []Crate    `json:"crates"`  // sorted by name, version, source
	Git     []GitCrate `json:"git"`     // sorted by name, version, source
}

var (
	hex64RE = regexp.MustCompile(`^[0-9a-f]{64}$`)
	hex40RE = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// ParseCargoLock reads a Cargo.lock of version 1 to 4. Packages without a
// source are the project's own. A registry crate without a checksum is an
// error. All problems are reported at once, as *BadLock.
func ParseCargoLock(file string, content []byte) (*CargoLock, error) {
	if err := checkSize(file, content); err != nil {
		return nil, err
	}
	depth := 0
	for _, c := range content {
		if c == '[' || c == '{' {
			depth++
		} else if c == ']' || c == '}' {
			depth = max(0, depth-1)
		}
		if depth > 100 {
			return nil, &BadLock{file, 0, "its brackets nest more than 100 deep"}
		}
	}
	var raw struct {
		Version  int
		Package  []struct{ Name, Version, Source, Checksum string }
		Metadata map[string]any
	}
	if _, err := toml.Decode(string(content), &raw); err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return nil, &BadLock{file, p.Position.Line, p.Message}
		}
		return nil, &BadLock{file, 0, err.Error()}
	}
	lock := &CargoLock{Version: raw.Version}
	switch {
	case raw.Version > 4 || raw.Version < 0:
		return nil, &BadLock{file, 0, fmt.Sprintf("version %d of the format is not known; this reads 1 to 4", raw.Version)}
	case raw.Version == 0 && len(raw.Metadata) > 0:
		lock.Version = 1
	case raw.Version == 0:
		lock.Version = 2
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, &BadLock{file, 0, fmt.Sprintf(format, args...)}) }
	seen := map[string]bool{}
	for _, p := range raw.Package {
		if !safeName(p.Name) || !safeName(p.Version) {
			bad("%q %q is no name and version of a crate", p.Name, p.Version)
			continue
		}
		key := p.Name + " " + p.Version + " (" + p.Source + ")"
		if seen[key] {
			bad("%s %s is here twice", p.Name, p.Version)
			continue
		}
		seen[key] = true
		switch kind, address, _ := strings.Cut(p.Source, "+"); {
		case p.Source == "":
		case kind == "registry" || kind == "sparse":
			sum := p.Checksum
			if old, ok := raw.Metadata["checksum "+key].(string); ok && sum == "" {
				sum = old
			}
			if !hex64RE.MatchString(sum) {
				bad("%s %s has no checksum; nothing says what must come", p.Name, p.Version)
				continue
			}
			lock.Crates = append(lock.Crates, Crate{p.Name, p.Version, sum, p.Source})
		case kind == "git":
			address, commit, _ := strings.Cut(address, "#")
			address, ref, _ := strings.Cut(address, "?")
			if !hex40RE.MatchString(commit) {
				bad("%s %s is from git without a commit", p.Name, p.Version)
				continue
			}
			if r, err := url.QueryUnescape(ref); err == nil {
				ref = r
			}
			lock.Git = append(lock.Git, GitCrate{p.Name, p.Version, p.Source, address, ref, commit})
		default:
			bad("%s %s is from %q, which is no registry and no git repository", p.Name, p.Version, p.Source)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(lock.Crates, func(a, b Crate) int {
		return strings.Compare(a.Name+" "+a.Version+" "+a.Source, b.Name+" "+b.Version+" "+b.Source)
	})
	slices.SortFunc(lock.Git, func(a, b GitCrate) int {
		return strings.Compare(a.Name+" "+a.Version+" "+a.Source, b.Name+" "+b.Version+" "+b.Source)
	})
	return lock, nil
}

// URL is the address of the .crate file on a registry whose configuration has
// dl as the value of its key "dl": an address with {crate}, {version},
// {prefix}, {lowerprefix} or {sha256-checksum} in it, or one to which
// /name/version/download is added.
func (c Crate) URL(dl string) string {
	replaced := strings.NewReplacer("{crate}", c.Name, "{version}", c.Version, "{prefix}", prefix(c.Name),
		"{lowerprefix}", prefix(strings.ToLower(c.Name)), "{sha256-checksum}", c.SHA256).Replace(dl)
	if replaced != dl {
		return replaced
	}
	return strings.TrimRight(dl, "/") + "/" + url.PathEscape(c.Name) + "/" + url.PathEscape(c.Version) + "/download"
}

// prefix is the folder of a crate in a registry's index.
func prefix(name string) string {
	switch len(name) {
	case 1, 2:
		return fmt.Sprint(len(name))
	case 3:
		return "3/" + name[:1]
	}
	return name[:2] + "/" + name[2:4]
}

// Verify reads a .crate file to its end and checks its sum. The error is a
// *Mismatch or the reader's.
func (c Crate) Verify(r io.Reader) error {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return fmt.Errorf("crate %s: %w", c.Folder(), err)
	}
	if have := hex.EncodeToString(h.Sum(nil)); have != c.SHA256 {
		return &Mismatch{"crate " + c.Folder(), "sha256 " + c.SHA256, "sha256 " + have}
	}
	return nil
}
