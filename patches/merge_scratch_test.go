// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// A git process that walks upstream's history while we store what upstream has
// as well must never see a part of an object: "object file … is empty".
func TestObjectsAppearWhole(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	s, err := newScratch(t.Context(), up.Repo)
	if err != nil {
		t.Fatal(err)
	}
	defer s.remove()
	for i := range 8 {
		content := bytes.Repeat([]byte{byte(i), 1, 2, 3}, 1<<20)
		id := git.HashObject("blob", content)
		file := filepath.Join(s.Dir(), "objects", string(id[:2]), string(id[2:]))
		sizes := make(chan int64, 1)
		go func() {
			for {
				if st, err := os.Stat(file); err == nil {
					sizes <- st.Size()
					return
				}
			}
		}()
		if _, err := s.write("blob", content); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if seen := <-sizes; seen != st.Size() {
			t.Errorf("object %d was seen with %d of its %d bytes", i, seen, st.Size())
		}
	}
}
