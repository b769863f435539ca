// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// GoModule is the module under which Go toolchains are served.
const GoModule = "golang.org/toolchain"

// A Go is a Go toolchain that lies in the store.
type Go struct {
	Dir     string // its GOROOT
	Version string // the module's: v0.0.1-go1.27.4.linux-amd64
	Sum     string // h1: of the module's files
}

// Name returns the toolchain's own name, go1.27.4.
func (g *Go) Name() string {
	name := strings.TrimPrefix(g.Version, "v0.0.1-")
	if i := strings.LastIndex(name, "."); i > 0 { // .linux-amd64
		name = name[:i]
	}
	return name
}

// Bin returns the path of the go command.
func (g *Go) Bin() string { return filepath.Join(g.Dir, "bin", "go") }

// FetchGo returns the toolchain of that version and sum from the store; when
// it is absent, it is downloaded with one of the machine's go commands,
// checked, and put there. Version and sum are those of the pin's lock.
func FetchGo(ctx context.Context, st *store.Store, version, sum string, p *progress.Reporter) (*Go, error) {
	key, err := store.KeyOf(sum)
	if err != nil {
		return nil, fmt.Errorf("pin go: %w", err)
	}
	e, err := st.Put(ctx, key, store.Maker{
		Kind: "toolchain",
		Name: GoModule + "@" + version,
		Fill: func(ctx context.Context, dir string) error { return downloadGo(ctx, version, dir, p) },
		Check: func(dir, _ string) error {
			got, err := dirhash.HashDir(dir, GoModule+"@"+version, dirhash.Hash1)
			if err == nil && got != sum {
				err = fmt.Errorf("pin go: the module proxy gave %s@%s with the sum %s, the pin says %s: nothing of it is used", GoModule, version, got, sum)
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	return &Go{Dir: e.Path, Version: version, Sum: sum}, nil
}

// CachedGo returns the toolchain if the store has it; it is a *store.Absent
// error otherwise.
func CachedGo(st *store.Store, version, sum string) (*Go, error) {
	key, err := store.KeyOf(sum)
	if err != nil {
		return nil, err
	}
	e, err := st.Get(key)
	if err != nil {
		return nil, err
	}
	return &Go{Dir: e.Path, Version: version, Sum: sum}, nil
}

// downloadGo puts the toolchain's files at dir. Each go command that is found
// may try; which one succeeds does not matter, since the sum decides.
func downloadGo(ctx context.Context, version, dir string, p *progress.Reporter) error {
	hosts := FindHostGo(ctx)
	if len(hosts) == 0 {
		return verdict.Infraf("no working go command was found to download %s@%s with: install Go 1.26 or newer and put it on PATH", GoModule, version)
	}
	p.Step("downloading %s@%s", GoModule, version)
	var errs []error
	for i, host := range hosts {
		err := downloadGoWith(ctx, host, version, dir, fmt.Sprintf("%s.download%d", dir, i))
		if err == nil || ctx.Err() != nil {
			return err
		}
		errs = append(errs, err)
	}
	return errs[0]
}

func downloadGoWith(ctx context.Context, host HostGo, version, dir, work string) error {
	defer os.RemoveAll(work)
	for _, sub := range []string{"mod", "build", "tmp", "empty"} {
		if err := os.MkdirAll(filepath.Join(work, sub), 0o777); err != nil {
			return err
		}
	}
	cmd := run.Command{
		Path: host.Path,
		Args: []string{"mod", "download", "-json", GoModule + "@" + version},
		Dir:  filepath.Join(work, "empty"),
		Env: append(NetworkEnv(host.Settings, filepath.Join(work, "mod"), filepath.Join(work, "build"), filepath.Join(work, "tmp")),
			"GOFLAGS=-modcacherw"),
		Timeout: downloadLimit,
	}
	r, err := cmd.Run(ctx)
	if err != nil {
		return explainDownload(GoModule+"@"+version, explainJSON(r.Stdout, err))
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(r.Stdout, &m); err != nil || m.Dir == "" {
		return verdict.Infraf("%s gave no answer that can be read for %s@%s", host.Path, GoModule, version)
	}
	if err := allowExec(m.Dir); err != nil {
		return err
	}
	return os.Rename(m.Dir, dir)
}

// explainJSON takes the reason from the answer of go mod download -json, which
// does not repeat it on stderr.
func explainJSON(stdout []byte, err error) error {
	var m struct{ Error string }
	var exit *run.ExitError
	if json.Unmarshal(stdout, &m) == nil && m.Error != "" && errors.As(err, &exit) {
		exit.Stderr = m.Error
	}
	return err
}

// allowExec sets the exec bits that a module zip cannot hold.
func allowExec(root string) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil || !unpack.GoToolchain(filepath.ToSlash(rel)) {
			return err
		}
		return os.Chmod(name, 0o755)
	})
}
