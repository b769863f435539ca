// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// An error has one sentence, and the sentence names the disk that is full.
func TestExplain(t *testing.T) {
	full := func(path string) error {
		return fmt.Errorf("copy: %w", &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC})
	}
	here := Explain(full("/cache/store/tmp/x"), "/cache/store")
	for name, x := range map[string]struct{ err, want error }{
		"nothing":         {Explain(nil, "/cache"), nil},
		"another error":   {Explain(fs.ErrNotExist, "/cache"), fs.ErrNotExist},
		"said already":    {Explain(fmt.Errorf("hand on: %w", here), "/out"), fmt.Errorf("hand on: %w", here)},
		"another's disk":  {Explain(full("/out/x"), "/cache/store"), full("/out/x")},
		"next to it":      {Explain(full("/cache/store2/x"), "/cache/store"), full("/cache/store2/x")},
		"without a place": {Explain(syscall.EROFS, "/cache"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if x.want != nil && x.err.Error() != x.want.Error() {
				t.Errorf("got %v, want %v", x.err, x.want)
			}
			if x.err != nil && verdict.Of(x.err) != verdict.Infra && !errors.Is(x.err, fs.ErrNotExist) {
				t.Errorf("the verdict of %v is %s", x.err, verdict.Of(x.err))
			}
		})
	}
	if !errors.Is(here, syscall.ENOSPC) {
		t.Errorf("%v lost its cause", here)
	}
}
