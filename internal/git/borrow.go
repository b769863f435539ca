// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Borrow lets the repository read the objects of others, from where they are:
// these must stay. It takes the place of an earlier Borrow.
func (r *Repo) Borrow(ctx context.Context, sources ...*Repo) error {
	var alternates, shallow strings.Builder
	for _, s := range sources {
		out, err := s.Output(ctx, "rev-parse", "--git-path", "objects", "--git-path", "shallow")
		if err != nil {
			return err
		}
		objects, cut, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
		if !ok || strings.Contains(cut, "\n") || !filepath.IsAbs(objects) {
			return fmt.Errorf("the objects of %s cannot be borrowed: its name is %q", s.Dir(), objects)
		}
		alternates.WriteString(objects + "\n")
		text, err := os.ReadFile(cut)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		shallow.Write(text)
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "objects", "info"), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, "objects", "info", "alternates"), []byte(alternates.String()), 0o666); err != nil {
		return err
	}
	if shallow.Len() == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(r.dir, "shallow"), []byte(shallow.String()), 0o666)
}
