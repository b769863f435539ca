// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pins"
)

// maxLicense is the longest file that counts as a licence, in bytes.
const maxLicense = 1 << 20

// licenseNames are what files with a licence, a copyright or a notice begin
// with, in capitals.
var licenseNames = []string{"LICENSE", "LICENCE", "UNLICENSE", "COPYING", "COPYRIGHT", "NOTICE"}

// codeEnds are the endings of files that only speak of licences.
var codeEnds = []string{".c", ".cc", ".cpp", ".h", ".hpp", ".py", ".js", ".ts", ".go", ".rs", ".zig", ".cmake", ".sh",
	".in", ".json", ".yml", ".yaml", ".toml", ".xml", ".patch", ".png", ".svg"}

// isLicense reports whether a path is a licence text by its name.
func isLicense(p string) bool {
	name := strings.ToUpper(path.Base(p))
	if slices.Contains(codeEnds, strings.ToLower(path.Ext(p))) {
		return false
	}
	if d, _, ok := strings.Cut(p, "/"); ok && strings.EqualFold(d, "LICENSES") {
		return true
	}
	return slices.ContainsFunc(licenseNames, func(l string) bool {
		rest, ok := strings.CutPrefix(name, l)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ".-_S "))
	})
}

// licenses lists the licence texts among files, with their sums; where is the
// folder that they are below.
func licenses(ctx context.Context, r *git.Repo, where string, files []git.Entry) ([]pins.LicenseFile, error) {
	cat, err := r.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	defer cat.Close()
	var out []pins.LicenseFile
	for _, x := range files {
		if x.Mode == git.ModeSymlink || !isLicense(x.Path) {
			continue
		}
		if h, err := cat.Header(x.ID); err != nil || h.Size > maxLicense {
			if err != nil {
				return nil, err
			}
			continue
		}
		text, err := cat.Read(x.ID, "blob")
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		out = append(out, pins.LicenseFile{Path: joinPath(where, x.Path), SHA256: hex.EncodeToString(sum[:])})
	}
	return out, nil
}
