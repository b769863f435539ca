// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch/vendored"
)

// npmCache fills dir with a cache of npm that holds the packages of a lock
// file, for npm ci --offline --cache. SHA-1, which very old lock files have,
// proves nothing any more and is refused.
func (e *Engine) npmCache(ctx context.Context, src *sourceFiles, in *pins.Input, dir string) error {
	data, err := src.read(ctx, in.DeclaredIn)
	if err != nil {
		return err
	}
	list, err := vendored.ParsePackageLock(in.DeclaredIn, data)
	if err != nil {
		return err
	}
	hashes := map[string]func() hash.Hash{"sha512": sha512.New, "sha384": sha512.New384, "sha256": sha256.New}
	for _, t := range list {
		if hashes[t.Integrity[0].Algorithm] == nil {
			return verdict.Failf("the package %s %s has no integrity of sha256 or better in %s", shown(t.Name), shown(t.Version), shown(in.DeclaredIn))
		}
	}
	registry, err := e.npmRegistry(ctx)
	if err != nil {
		return err
	}
	work := dir + ".tarballs"
	if err := os.MkdirAll(work, 0o777); err != nil {
		return err
	}
	file := func(t vendored.Tarball) string {
		id := sha256.Sum256([]byte(t.Name + " " + t.Version + " " + t.Integrity.String()))
		return filepath.Join(work, hex.EncodeToString(id[:]))
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(e.jobs())
	for _, t := range list {
		g.Go(func() error {
			place := Place{URL: t.On(registry), Mapped: true}
			d := download{name: t.Name + " " + t.Version, url: place.URL, place: &place}
			if len(t.Integrity) == 1 { // of several one must be right, which the cache's writer sees
				d.expect = httpget.Expect{Hash: hashes[t.Integrity[0].Algorithm], Sum: t.Integrity[0].Hex()}
			}
			part, _, err := e.download(gctx, d)
			if err != nil {
				return fmt.Errorf("package %s %s: %w", t.Name, t.Version, err)
			}
			return moveFile(part, file(t))
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return vendored.WriteNPMCache(dir, list, inputTime, func(t vendored.Tarball) (io.ReadCloser, error) { return os.Open(file(t)) })
}

// npmRegistry asks npm itself which registry this machine uses.
func (e *Engine) npmRegistry(ctx context.Context) (string, error) {
	if e.npm != "" {
		return e.npm, nil
	}
	top, err := e.cache("tmp")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(top, "npm-") // no project's own configuration
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "NO_UPDATE_NOTIFIER=1"}
	for _, name := range []string{"HOME", "USERPROFILE", "npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_userconfig", "NPM_CONFIG_USERCONFIG", "npm_config_globalconfig", "NPM_CONFIG_GLOBALCONFIG"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	res, err := run.Command{Path: "npm", Args: []string{"config", "get", "registry"}, Dir: dir, Env: env, Timeout: time.Minute}.Run(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return "", verdict.Infraf("the program npm is missing, and only it knows this machine's registry: install npm")
	}
	registry := strings.TrimSuffix(strings.TrimSpace(string(res.Stdout)), "/")
	if u, uerr := url.Parse(registry); err != nil || uerr != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return "", verdict.Infraf("npm names no registry that can be asked: set one with 'npm config set registry'")
	}
	return registry, nil
}
