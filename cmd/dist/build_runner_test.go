// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// An engine that does not answer is told in one sentence, before anything is
// built for it.
func TestBuildWithoutAnEngine(t *testing.T) {
	for name, value := range map[string]string{
		"_EXPERIMENTAL_DAGGER_RUNNER_HOST": "unix:///nowhere/engine.sock", "_EXPERIMENTAL_DAGGER_CLI_BIN": "/nowhere/dagger",
		"DAGGER_SESSION_PORT": "", "DO_NOT_TRACK": "1",
	} {
		t.Setenv(name, value)
	}
	var f buildFlags
	_, err := f.dagger(build.Options{})(t.Context(), build.Sandboxed)
	if verdict.ExitCode(err) != 5 || !strings.Contains(err.Error(), "no Dagger engine answers at unix:///nowhere/engine.sock") || strings.Contains(err.Error(), "\n") {
		t.Errorf("exit code %d: %v", verdict.ExitCode(err), err)
	}
	if f.closeRunner(); len(f.close) > 0 {
		t.Error("there is something to close")
	}
}
