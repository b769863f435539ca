// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
)

func TestImport(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	open := func() *Store {
		s, err := Open(filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { rmtree.All(s.Dir()) })
		return s
	}
	from, to := open(), open()
	when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	key := Key("in-" + make64('a'))
	made, err := from.Put(ctx, key, Maker{
		Kind: "toolchain", Name: "tools 1", Meta: map[string]string{"k": "v"},
		Fill: func(_ context.Context, path string) error {
			if err := os.MkdirAll(path+"/bin", 0o777); err != nil {
				return err
			}
			if err := os.WriteFile(path+"/bin/cc", []byte("cc\n"), 0o777); err != nil {
				return err
			}
			for _, p := range []string{"/bin/cc", "/bin", ""} {
				if err := os.Chtimes(path+p, when, when); err != nil {
					return err
				}
			}
			return nil
		},
		Check: func(string, string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := to.Import(ctx, from, key)
	if err != nil {
		t.Fatal(err)
	}
	if got.Sum != made.Sum || got.Kind != "toolchain" || got.Name != "tools 1" || got.Meta["k"] != "v" || got.Path == made.Path {
		t.Errorf("got %+v, made %+v", got, made)
	}
	if d := to.Verify(key); d != nil {
		t.Errorf("%+v", d)
	}
	for _, p := range []string{"/bin/cc", "/bin", ""} {
		if st, err := os.Stat(got.Path + p); err != nil || !st.ModTime().Equal(when) {
			t.Errorf("%s: %v, %v", p, st.ModTime(), err)
		}
	}
	// Removing it there takes nothing away here.
	if err := to.Remove(ctx, key); err != nil {
		t.Fatal(err)
	}
	if d := from.Verify(key); d != nil {
		t.Errorf("%+v", d)
	}
	var absent *Absent
	if _, err := to.Import(ctx, from, Key("in-"+make64('b'))); !errors.As(err, &absent) {
		t.Errorf("got %v", err)
	}
	// What was changed is not taken over.
	if err := os.Chmod(made.Path+"/bin/cc", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(made.Path+"/bin/cc", []byte("bad\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var damaged *Damaged
	if _, err := to.Import(ctx, from, key); !errors.As(err, &damaged) {
		t.Errorf("got %v", err)
	}
	if _, err := to.Get(key); !errors.As(err, &absent) {
		t.Errorf("the damaged entry is there: %v", err)
	}
}

func make64(c byte) string {
	b := make([]byte, 64)
	for i := range b {
		b[i] = c
	}
	return string(b)
}
