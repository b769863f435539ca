// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/linktree"
)

// Import brings an entry of another store into this one, by hard links where
// both are on one disk. Its content is summed on the way in: where it is not
// what the other store's record says, the error is a *Damaged. Like Get, it is
// *Absent where the other store has no such entry.
func (s *Store) Import(ctx context.Context, from *Store, key Key) (*Entry, error) {
	e, err := from.Get(key)
	if err != nil {
		return nil, err
	}
	return s.Put(ctx, key, Maker{
		Kind: e.Kind, Name: e.Name, Meta: e.Meta,
		Fill: func(_ context.Context, path string) error {
			if err := linktree.Copy(e.Path, path, linktree.Options{}); err != nil {
				return fmt.Errorf("copy %s: %w", e.Name, from.explain(err))
			}
			return nil
		},
		Check: func(_, sum string) error {
			// The key of a file is its own sum.
			own, _ := KeyOf(sum)
			if sum != e.Sum || own != key && strings.HasPrefix(sum, "sha256:") && strings.HasPrefix(string(key), "sha256-") {
				return &Damaged{key}
			}
			return nil
		},
	})
}
