// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/layout"
)

// hsaVariable tells the HRX build where the HSA runtime is.
const hsaVariable = "IREE_HAL_AMDGPU_LIBHSA_PATH"

// hsaDepth is how deep below TheRock's folder the runtime is looked for.
const hsaDepth = 6

// hsa returns the variable with the HSA runtime: what the user named, the
// distribution's, or the first one below TheRock's folder. Without any the
// program asks the system's loader.
func (p *planner) hsa() []string {
	path := p.r.LibHSA
	for _, dir := range layout.HSADirs() {
		if path == "" && p.h.Dir != "" {
			path = file(filepath.Join(p.h.Dir, filepath.FromSlash(dir), layout.LibHSA))
		}
	}
	if path == "" && p.h.TheRock != "" {
		path = below(p.h.TheRock, layout.LibHSA, hsaDepth)
	}
	if path == "" {
		return nil
	}
	return []string{hsaVariable + "=" + path}
}

func file(path string) string {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// below returns the first file of that name at most depth folders below root,
// in the order of names.
func below(root, name string, depth int) (found string) {
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case d.Name() == name && file(path) != "":
			found = path
			return fs.SkipAll
		case d.IsDir() && path != root && strings.Count(path[len(root):], string(filepath.Separator)) >= depth:
			return fs.SkipDir
		}
		return nil
	})
	return found
}
