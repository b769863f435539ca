// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Edit changes the file of one pin in dir by edit, which gets its bytes and
// returns new ones, as WriteLock does. The file is replaced as a whole, and only
// if nobody else changed it meanwhile; changed is false if it stays as it is.
func Edit(dir, name string, edit func(file []byte) ([]byte, error)) (changed bool, err error) {
	path := filepath.Join(dir, name+".yaml")
	info, err := os.Stat(path)
	if err != nil {
		return false, fmt.Errorf("pin %s: %w", name, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("pin %s: %w", name, err)
	}
	after, err := edit(before)
	if err != nil {
		return false, fmt.Errorf("pin %s: %w", name, err)
	}
	if bytes.Equal(before, after) {
		return false, nil
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		return false, verdict.Failf("pin %s: %s was changed by somebody else meanwhile; do it again", name, path)
	}
	if err := atomicfile.Write(path, after, info.Mode().Perm()); err != nil {
		return false, fmt.Errorf("pin %s: %w", name, err)
	}
	return true, nil
}
