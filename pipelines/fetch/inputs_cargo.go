// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A crate is a package of a Cargo.lock that comes from the public registry.
type crate struct{ name, version, checksum string }

// readCargoLock returns the crates of a Cargo.lock. Those of the workspace
// itself are left out; others than the public registry's are refused.
func readCargoLock(data []byte) ([]crate, error) {
	var lock struct {
		Package []struct{ Name, Version, Source, Checksum string }
	}
	if err := toml.Unmarshal(data, &lock); err != nil {
		return nil, verdict.Failf("the Cargo.lock can not be read (%w)", err)
	}
	var all []crate
	for _, p := range lock.Package {
		switch {
		case p.Source == "":
			continue
		case !strings.HasPrefix(p.Source, "registry+") || !strings.HasSuffix(p.Source, "/crates.io-index"):
			return nil, verdict.Failf("the crate %s comes from %s: only crates of the public registry are vendored, give others as inputs of the kind git", shown(p.Name), shown(p.Source))
		case !plainWord(p.Name) || !plainWord(p.Version):
			return nil, verdict.Failf("the Cargo.lock has the crate %s %s, which is no name and version", quoted(p.Name), quoted(p.Version))
		case !isSHA256(p.Checksum):
			return nil, verdict.Failf("the crate %s has no checksum in the Cargo.lock", shown(p.Name))
		}
		all = append(all, crate{p.Name, p.Version, p.Checksum})
	}
	return all, nil
}

// cargoVendor fills dir as "cargo vendor" does: a folder a crate, with the sum
// of its archive beside its files.
func (e *Engine) cargoVendor(ctx context.Context, src *sourceFiles, in *pins.Input, dir string) error {
	data, err := src.read(ctx, in.DeclaredIn)
	if err != nil {
		return err
	}
	crates, err := readCargoLock(data)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	from, err := e.crateSource(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.jobs())
	for _, c := range crates {
		g.Go(func() error {
			if err := e.vendor(ctx, from, c, dir); err != nil {
				return fmt.Errorf("crate %s %s: %w", c.name, c.version, err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (e *Engine) vendor(ctx context.Context, from *crateSource, c crate, dir string) error {
	place := Place{URL: from.url(c), Mapped: from.mapped}
	entry, _, err := e.file(ctx, download{name: c.name + "-" + c.version + ".crate", url: place.URL, place: &place, expect: httpget.Expect{SHA256: c.checksum}})
	if err != nil {
		return err
	}
	f, err := os.Open(entry.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	top := c.name + "-" + c.version
	target := filepath.Join(dir, top)
	if err := unpack.Tar(ctx, f, target, unpack.StripPrefix(top+"/")); err != nil {
		return err
	}
	sums, err := json.Marshal(map[string]any{"files": map[string]string{}, "package": c.checksum})
	if err != nil {
		return err
	}
	name := filepath.Join(target, ".cargo-checksum.json")
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(name, append(sums, '\n'), 0o644)
}

// A crateSource is where the public registry's archives are read.
type crateSource struct {
	dl     string // with markers such as {crate}, or none
	mapped bool
}

// url puts a crate into the address; the markers are those of Cargo's registry
// index.
func (s *crateSource) url(c crate) string {
	if !strings.Contains(s.dl, "{") {
		return s.dl + "/" + c.name + "/" + c.version + "/download"
	}
	return strings.NewReplacer("{crate}", c.name, "{version}", c.version, "{prefix}", cratePrefix(c.name),
		"{lowerprefix}", cratePrefix(strings.ToLower(c.name)), "{sha256-checksum}", c.checksum).Replace(s.dl)
}

func cratePrefix(name string) string {
	switch n := len(name); {
	case n <= 2:
		return fmt.Sprint(n)
	case n == 3:
		return "3/" + name[:1]
	}
	return name[:2] + "/" + name[2:4]
}

// crateSource asks the registry's index, which the mirrors file or cargo's own
// configuration names, where its archives are.
func (e *Engine) crateSource(ctx context.Context) (*crateSource, error) {
	index := ""
	if e.Mirrors != nil {
		index = e.Mirrors.Crates
	}
	if index == "" {
		home, err := cargoHome()
		if err == nil {
			index, err = cargoIndex(home)
		}
		if err != nil {
			return nil, err
		}
	}
	index = strings.TrimSuffix(strings.TrimPrefix(index, "sparse+"), "/")
	where := index + "/config.json"
	place := Place{URL: where, Mapped: true} // the user's own configuration names it
	if filepath.IsAbs(index) {
		place.URL = filepath.FromSlash(where)
	}
	resp, _, err := e.getFrom(ctx, place, where, nil)
	if err != nil {
		return nil, fmt.Errorf("the index of crates: %w", err)
	}
	var config struct{ DL string }
	if err := json.Unmarshal(resp.Body, &config); err != nil || config.DL == "" {
		return nil, verdict.Infraf("the index of crates %s does not say where its archives are", shown(httpget.Mask(where)))
	}
	return &crateSource{dl: strings.TrimSuffix(config.DL, "/"), mapped: sameOrigin(config.DL, where)}, nil
}

func sameOrigin(a, b string) bool {
	u, err1 := url.Parse(a)
	v, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && u.Scheme == v.Scheme && u.Host == v.Host
}

func cargoHome() (string, error) {
	if dir := os.Getenv("CARGO_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cargo"), err
}

// cargoIndex reads which index cargo uses instead of its built-in one.
func cargoIndex(home string) (string, error) {
	var config struct {
		Source map[string]struct {
			ReplaceWith string `toml:"replace-with"`
			Registry    string
		}
		Registries map[string]struct{ Index string }
	}
	for _, name := range []string{"config.toml", "config"} {
		data, err := os.ReadFile(filepath.Join(home, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = toml.Unmarshal(data, &config)
		}
		if err != nil {
			return "", verdict.Infraf("cargo's configuration can not be read (%w)", err)
		}
		break
	}
	at := "crates-io"
	for range 10 {
		s := config.Source[at]
		if s.ReplaceWith == "" {
			break
		}
		at = s.ReplaceWith
	}
	index := config.Source[at].Registry
	if index == "" {
		index = config.Registries[at].Index
	}
	if !strings.HasPrefix(index, "sparse+") {
		return "", verdict.Infraf("no index of crates is known on this machine: name a sparse one under crates: in the mirrors file, or as the replacement of crates-io in cargo's configuration")
	}
	return index, nil
}
