// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// repository returns the work tree that the command is about: the flag --repo,
// else the one around the current folder.
func repository(cmd *cobra.Command) (string, error) {
	dir, err := cmd.Flags().GetString("repo")
	if err != nil {
		return "", err
	}
	if dir != "" {
		if !isRepository(dir) {
			return "", verdict.Usagef("%s is not the engine's repository: it has no pins folder and go.mod", dir)
		}
		return filepath.Abs(dir)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir = here; ; dir = filepath.Dir(dir) {
		if isRepository(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", verdict.Usagef("%s is not inside the engine's repository: go there, or name it with --repo", here)
		}
	}
}

func isRepository(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.Contains(string(data), "module github.com/1bit-MONSTER/engine\n") {
		return false
	}
	st, err := os.Stat(filepath.Join(dir, "pins"))
	return err == nil && st.IsDir()
}

// goPin reads the lock of the pin go.
func goPin(repo string) (build.GoPin, error) {
	path := filepath.Join(repo, "pins", "go.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		return build.GoPin{}, verdict.Failf("pin go: %w", err)
	}
	p, err := pins.Parse(data, "pins/go.yaml")
	if err != nil {
		return build.GoPin{}, err
	}
	return build.GoPinOf(p)
}

// shorten shows a path relative to the current folder where that is shorter.
func shorten(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
