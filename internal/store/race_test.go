// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A sweep must not take the folder of somebody at work for a dead one's: the
// file of a new lock may be removed between its opening and its locking.
func TestWorkspacesOfManyStay(t *testing.T) {
	s := open(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 30 {
				work, done, err := s.Workspace()
				if err != nil {
					t.Error(err)
					return
				}
				name := filepath.Join(work, fmt.Sprint(i, "-", j))
				if err := os.WriteFile(name, nil, 0o666); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(name); err != nil {
					t.Error(err)
				}
				done()
			}
		})
	}
	all.Wait()
}
