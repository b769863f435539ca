// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/store"
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
	e, err := FetchModule(ctx, st, GoModule, version, sum, p)
	if err != nil {
		return nil, fmt.Errorf("pin go: %w", err)
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
