// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func TestVersion(t *testing.T) {
	for in, want := range map[string]string{
		"git version 2.39.5":                 "2.39.5",
		"git version 2.50.1 (Apple Git-155)": "2.50.1",
		"git version 2.45.0.rc1.windows.1":   "2.45.0",
		"git version 3.0":                    "3.0",
	} {
		if got, err := parseVersion(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, old := range []string{"git version 2.38.9", "git version 1.99"} {
		if _, err := parseVersion(old); verdict.Of(err) != verdict.Infra {
			t.Errorf("%q: %v", old, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Version(t.Context()); verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "install git 2.39") {
		t.Errorf("without git: %v", err)
	}
}
