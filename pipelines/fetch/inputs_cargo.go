// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/BurntSushi/toml"
	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch/vendored"
)

// cargoVendor fills dir as "cargo vendor" does: a folder a crate, with the sum
// of its archive beside its files.
func (e *Engine) cargoVendor(ctx context.Context, src *sourceFiles, in *pins.Input, dir string) error {
	data, err := src.read(ctx, in.DeclaredIn)
	if err != nil {
		return err
	}
	lock, err := vendored.ParseCargoLock(in.DeclaredIn, data)
	if err != nil {
		return err
	}
	for _, c := range lock.Crates {
		if !strings.HasSuffix(c.Source, "/crates.io-index") {
			return verdict.Failf("the crate %s comes from %s: only crates of the public registry are vendored", shown(c.Name), shown(c.Source))
		}
	}
	from, err := e.crateSource(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	paths := map[string]string{}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(e.jobs())
	for _, c := range lock.Crates {
		g.Go(func() error {
			place := Place{URL: c.URL(from.dl), Mapped: from.mapped}
			entry, _, err := e.file(gctx, download{name: c.Folder() + ".crate", url: place.URL, place: &place, expect: httpget.Expect{SHA256: c.SHA256}})
			if err != nil {
				return fmt.Errorf("crate %s %s: %w", c.Name, c.Version, err)
			}
			mu.Lock()
			defer mu.Unlock()
			paths[c.SHA256] = entry.Path
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return vendored.WriteVendor(ctx, dir, lock, inputTime, func(c vendored.Crate) (io.ReadSeekCloser, error) { return os.Open(paths[c.SHA256]) })
}

// inputTime is the time of the files of inputs, so that they depend on their
// content alone.
var inputTime = time.Unix(0, 0).UTC()

// A crateSource is where the public registry's archives are read.
type crateSource struct {
	dl     string // with markers such as {crate}, or none
	mapped bool
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
