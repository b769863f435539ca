// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package filesum sums files on the disk as locks name them.
package filesum

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// SHA256 returns the sha256 of a file's content, as 64 hex digits. A symbolic
// link is followed.
func SHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
