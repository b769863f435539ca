// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
)

// BenchmarkTwelveComponentsNothingChanged plans twelve components from the
// committed pins, of which the store has all, looks at their files and at the
// folders that show them: what dist build --all does beside starting.
func BenchmarkTwelveComponentsNothingChanged(b *testing.B) {
	cache, out := Cache{b.TempDir()}, b.TempDir()
	b.Cleanup(func() { rmtree.All(cache.Dir); rmtree.All(out) })
	st, err := cache.Store()
	if err != nil {
		b.Fatal(err)
	}
	var recipes []*Recipe
	var names []string
	for i := range 12 {
		r := llamaVulkanRecipe()
		r.Name = fmt.Sprintf("component-%d", i)
		recipes, names = append(recipes, r), append(names, r.Name)
	}
	all := func() int {
		set, err := pins.Load("../../pins")
		if err != nil {
			b.Fatal(err)
		}
		plan, err := MakePlan(PlanOptions{Context: b.Context(), Set: set, Store: st, Recipes: recipes}, names...)
		if err != nil {
			b.Fatal(err)
		}
		hits := 0
		for _, c := range plan.Components {
			if c.err != nil {
				b.Fatal(c.err)
			}
			e, err := st.Put(b.Context(), c.Key, store.Maker{Kind: "output", Name: c.Name, Fill: fewFiles, Check: func(string, string) error { return nil }})
			if err != nil {
				b.Fatal(err)
			}
			files, err := st.Files(c.Key)
			if err != nil {
				b.Fatal(err)
			}
			if err := view(e, files, filepath.Join(out, c.Name)); err != nil {
				b.Fatal(err)
			}
			if c.State == StateHit {
				hits++
			}
		}
		return hits
	}
	all()
	for b.Loop() {
		if hits := all(); hits != len(recipes) {
			b.Fatalf("%d hits", hits)
		}
	}
}

// fewFiles makes 200 files, as a larger component has.
func fewFiles(_ context.Context, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte("x"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
