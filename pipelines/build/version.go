// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// versionPattern is how a release is named: ISO year, ISO week, and a number
// for a second one in the same week.
var versionPattern = regexp.MustCompile(`^20[0-9]{2}\.(0[1-9]|[1-4][0-9]|5[0-3])(\.[1-9][0-9]*)?$`)

// readVersion reads the file VERSION of a source tree.
func readVersion(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if err != nil {
		return "", err
	}
	v := strings.TrimSpace(string(data))
	if !versionPattern.MatchString(v) {
		return "", fmt.Errorf("VERSION says %q: want YEAR.WEEK or YEAR.WEEK.N, such as 2026.48", v)
	}
	return v, nil
}

// searchPath is the machine's PATH, for finding git.
func searchPath() string { return os.Getenv("PATH") }
