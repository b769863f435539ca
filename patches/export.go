// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// Export writes the commits of a branch as a series and patch files into a
// folder, which must not exist or be empty. The repository's own stack stays as
// it is; where it exists, its base is the default.
func (r *Repository) Export(ctx context.Context, name string, from From, dir string) (*Imported, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var base git.ID
	if _, err := os.Lstat(r.dir(name)); err == nil {
		s, err := r.Load(name)
		if err != nil {
			return nil, err
		}
		base = s.Base
	} else if pin := r.PinOf(name); pin != nil && pin.Lock != nil {
		base = git.ID(pin.Lock.Commit)
	}
	_, im, done, err := read(ctx, name, base, from)
	if err != nil {
		return nil, err
	}
	defer done()
	im.Stack.Series = NewSeries(im.Files...)
	im.Stack.Series.Base = im.Base
	im.Stack.Dir, err = newFolder(dir, func(fresh string) error {
		for _, p := range im.Stack.Patches {
			if err := writeSynced(filepath.Join(fresh, p.File), Render(p)); err != nil {
				return err
			}
		}
		return writeSynced(filepath.Join(fresh, SeriesFile), im.Stack.Series.Format())
	})
	return im, err
}
