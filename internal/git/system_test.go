// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// What git says in words about the machine is the machine's failure, whatever
// git was about to do.
func TestWordsOfTheSystem(t *testing.T) {
	for text, want := range map[string]error{
		"error: unable to write symref for HEAD: No space left on device": syscall.ENOSPC,
		"error: unable to create temporary file: Read-only file system":   syscall.EROFS,
		"fatal: write error: Disk quota exceeded":                         syscall.EDQUOT,
		"fatal: bad object 0123456789012345678901234567890123456789":      nil,
	} {
		exit := &run.ExitError{Line: "git init", Code: 128, Stderr: text}
		err := fmt.Errorf("make: %w", noGit(exit))
		if want != nil && (!errors.Is(err, want) || verdict.Of(err) != verdict.Infra) || want == nil && verdict.Of(err) != verdict.Fail {
			t.Errorf("%q: %s, %v", text, verdict.Of(err), err)
		}
		if exitCode(err) != 128 || err.Error() != "make: "+exit.Error() {
			t.Errorf("%q became %q", text, err)
		}
	}
}
