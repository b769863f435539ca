// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A tarball is a package of a package-lock.json.
type tarball struct {
	name, version string
	hash          func() hash.Hash
	sum           string // hex
}

// path is where the registry has it, and where it is in the input's folder.
func (t tarball) path() string {
	return t.name + "/-/" + t.name[strings.LastIndex(t.name, "/")+1:] + "-" + t.version + ".tgz"
}

// readNPMLock returns the packages of a package-lock.json of version 2 or 3.
// Links and what is bundled in others need no download.
func readNPMLock(data []byte) ([]tarball, error) {
	var lock struct {
		Packages map[string]struct {
			Name, Version, Resolved, Integrity string
			Link, InBundle                     bool
		}
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, verdict.Failf("the package-lock.json can not be read (%w)", err)
	}
	if len(lock.Packages) == 0 {
		return nil, verdict.Failf("the package-lock.json lists no packages: version 2 or 3 of it is needed, as npm 7 and newer write it")
	}
	seen := map[string]tarball{}
	for at, p := range lock.Packages {
		i := strings.LastIndex(at, "node_modules/")
		if i < 0 || p.Link || p.InBundle {
			continue
		}
		name := p.Name
		if name == "" {
			name = at[i+len("node_modules/"):]
		}
		if p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https:") && !strings.HasPrefix(p.Resolved, "http:") {
			return nil, verdict.Failf("the package %s comes from %s: only packages of the registry are fetched, give others as inputs of the kind git", shown(name), shown(p.Resolved))
		}
		scope, base, scoped := strings.Cut(name, "/")
		if !scoped {
			scope, base = "@none", name
		}
		if !plainWord(base) || !plainWord(p.Version) || scope[:min(1, len(scope))] != "@" || !plainWord(scope[1:]) {
			return nil, verdict.Failf("the package-lock.json has the package %s %s, which is no name and version", quoted(name), quoted(p.Version))
		}
		h, sum, err := integrity(p.Integrity)
		if err != nil {
			return nil, verdict.Failf("the package %s: %w", shown(name), err)
		}
		t := tarball{name, p.Version, h, sum}
		if old, ok := seen[t.path()]; ok && old.sum != sum {
			return nil, verdict.Failf("the package %s %s has two sums", shown(name), shown(p.Version))
		}
		seen[t.path()] = t
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b tarball) int { return strings.Compare(a.path(), b.path()) }), nil
}

// integrity reads the strongest sum of a subresource integrity text. SHA-1,
// which very old lock files have, proves nothing any more.
func integrity(s string) (func() hash.Hash, string, error) {
	for _, kind := range []struct {
		prefix string
		hash   func() hash.Hash
		size   int
	}{{"sha512-", sha512.New, sha512.Size}, {"sha384-", sha512.New384, sha512.Size384}, {"sha256-", sha256.New, sha256.Size}} {
		for _, one := range strings.Fields(s) {
			value, ok := strings.CutPrefix(one, kind.prefix)
			if !ok {
				continue
			}
			value, _, _ = strings.Cut(value, "?")
			raw, err := base64.StdEncoding.DecodeString(value)
			if err != nil || len(raw) != kind.size {
				return nil, "", fmt.Errorf("its integrity %s can not be read", quoted(s))
			}
			return kind.hash, hex.EncodeToString(raw), nil
		}
	}
	return nil, "", fmt.Errorf("it has no integrity of sha256 or better in the lock file")
}

// npmTarballs fills dir with the packages' archives, laid out as a registry has
// them.
func (e *Engine) npmTarballs(ctx context.Context, src *sourceFiles, in *pins.Input, dir string) error {
	data, err := src.read(ctx, in.DeclaredIn)
	if err != nil {
		return err
	}
	list, err := readNPMLock(data)
	if err != nil {
		return err
	}
	registry, err := e.npmRegistry(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.jobs())
	for _, t := range list {
		g.Go(func() error {
			place := Place{URL: registry + "/" + (&url.URL{Path: t.path()}).EscapedPath(), Mapped: true}
			part, _, err := e.download(ctx, download{name: t.name + " " + t.version, url: place.URL, place: &place, expect: httpget.Expect{Hash: t.hash, Sum: t.sum}})
			if err != nil {
				return fmt.Errorf("package %s %s: %w", t.name, t.version, err)
			}
			to := filepath.Join(dir, filepath.FromSlash(t.path()))
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return err
			}
			return moveFile(part, to)
		})
	}
	return g.Wait()
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
