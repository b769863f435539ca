// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"path"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// goModules fills dir with the modules of a go.mod, laid out as a module proxy
// has them, so that a build uses them by GOPROXY=file://dir.
func (e *Engine) goModules(ctx context.Context, src *sourceFiles, in *pins.Input, dir string) error {
	if base := path.Base(in.DeclaredIn); base != "go.mod" && base != "go.sum" {
		return verdict.Failf("%s is no go.mod", shown(in.DeclaredIn))
	}
	mod, err := src.read(ctx, path.Join(path.Dir(in.DeclaredIn), "go.mod"))
	if err != nil {
		return err
	}
	sum, err := src.read(ctx, path.Join(path.Dir(in.DeclaredIn), "go.sum"))
	if err != nil {
		return err
	}
	return toolchain.DownloadModules(ctx, in.Name, mod, sum, dir, e.Progress)
}
