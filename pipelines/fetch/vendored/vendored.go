// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package vendored reads the lock files of package managers, checks downloads
// against them, and lays the packages out so that the package manager builds
// without a network. It is for fetch (the inputs cargo-vendor, npm and
// go-modules) and for the recipes that use them.
//
// Nothing here downloads: a list says what to get and what its sum must be,
// Verify checks what came, a writer takes verified files. Where a package is
// found is an option of the caller; no registry's address is built in.
//
// Limits. Cargo: crates from git are listed, and left to git inputs; the
// layout holds registry crates only. npm: packages from git, links and
// packages without an integrity are errors, for nothing says what they must
// be. Go: the sums of go.sum are enough, the checksum database is not asked.
package vendored

import (
	"fmt"
	"strings"
)

// maxFile is the size of a lock file, in bytes, above which it is refused.
const maxFile = 64 << 20

// A Mismatch says that a download is not what the lock file names.
type Mismatch struct {
	Name       string // package and version
	Want, Have string // sums, algorithm first
}

func (e *Mismatch) Error() string {
	return fmt.Sprintf("%s: the lock file wants %s, the download has %s; nothing was kept: fetch it again, and if it stays so the registry has another package under that name", e.Name, e.Want, e.Have)
}

// A BadLock says what is wrong with a lock file.
type BadLock struct {
	File string
	Line int // 0: of the whole file
	Why  string
}

func (e *BadLock) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
	}
	return fmt.Sprintf("%s: %s", e.File, e.Why)
}

// checkSize refuses a lock file that is too large to be one.
func checkSize(file string, content []byte) error {
	if len(content) > maxFile {
		return &BadLock{file, 0, fmt.Sprintf("it has %d bytes; lock files above %d are not read", len(content), maxFile)}
	}
	return nil
}

// safeName accepts the name or version of a package that becomes part of a
// path: no slash, no leading dot or hyphen, ASCII without control characters.
func safeName(s string) bool {
	if s == "" || len(s) > 200 || s[0] == '.' || s[0] == '-' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+~", r))
	}) < 0
}
