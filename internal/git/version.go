// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// The oldest git that does what this package asks of it.
const oldestMajor, oldestMinor = 2, 39

var versionNumber = regexp.MustCompile(`(\d+)\.(\d+)(?:\.\d+)*`)

// Version returns the version of the system's git, such as 2.39.5. It is an
// infra error when there is none, or one older than 2.39.
func Version(ctx context.Context) (string, error) {
	out, err := output(ctx, Command("", "version"))
	if err != nil {
		return "", err
	}
	return parseVersion(line(out))
}

func parseVersion(text string) (string, error) {
	m := versionNumber.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("git says that its version is %s", inertQuote(text))
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return m[0], verdict.Infraf("git %s is too old: install git %d.%d or newer", m[0], oldestMajor, oldestMinor)
	}
	return m[0], nil
}
