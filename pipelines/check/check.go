// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package check holds the checks of the repository itself: the copyright
// header on every file, the NOTICE file, and the summary of a test run with
// its table of real parts. It is for dist and .ci/run. It reads the work tree
// and asks git and go; it never needs the network when the module cache is
// filled.
package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/run"
)

// files returns the regular files of the work tree at root, tracked or not
// ignored, as sorted slash paths. Symbolic links, submodules and files that
// were deleted but not yet from the index are left out.
func files(ctx context.Context, root string) ([]string, error) {
	res, err := run.Command{
		Path: "git",
		// The caller's configuration is left out, so its safe.directory is too.
		Args: []string{"-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"},
		Dir:  root,
		Env:  []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull},
	}.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", root, err)
	}
	var names []string
	for name := range strings.SplitSeq(string(res.Stdout), "\x00") {
		if name == "" {
			continue
		}
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
