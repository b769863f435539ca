// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/store"
)

// A Reproduction is what two builds of one component came to.
type Reproduction struct {
	Name        string       `json:"name"`
	Key         store.Key    `json:"key"`
	Equal       bool         `json:"equal"` // but for what the recipe excepts
	Sums        [2]string    `json:"sums"`
	Differences []Difference `json:"differences"`
	Varied      []string     `json:"varied"`
	Kept        string       `json:"kept,omitempty"` // where both builds lie when they differ
}

// varied is what Reproduce varies, beside the day and the order of work.
var varied = []string{
	"folder outside", "order in which source files were made", "number of processors", "umask", "time zone and locale of the caller", "time",
}

// Reproduce builds a component twice, from nothing, with everything varied that
// may not matter, and compares. What it needs must be in the builder's store.
func (b *Builder) Reproduce(ctx context.Context, c *PlannedComponent, made map[string]*Built) (*Reproduction, error) {
	if c.err != nil {
		return nil, c.err
	}
	dir, err := os.MkdirTemp(b.Cache.Dir, "reproduce-"+c.Name+"-")
	if err != nil {
		return nil, store.Explain(err, b.Cache.Dir)
	}
	r := &Reproduction{Name: c.Name, Key: c.Key, Varied: varied}
	var entries [2]*store.Entry
	var files [2][]store.File
	for i, where := range []string{"a", filepath.Join("a-much-longer-name", "two")} {
		st, err := store.Open(filepath.Join(dir, where))
		if err != nil {
			return nil, err
		}
		v := *b
		v.Store = st
		if i == 1 {
			v.CPUs = 1
			v.Provider = &reversed{b.Provider, filepath.Join(dir, "reversed")}
		}
		b.Progress.Step("%s: build %d of 2", c.Name, i+1)
		built, err := vary(i == 1, func() (*Built, error) { return v.one(ctx, c, made) })
		if err != nil {
			store.RemoveAll(dir)
			return nil, err
		}
		r.Sums[i] = built.Sum
		if entries[i], err = st.Get(c.Key); err != nil {
			return nil, err
		}
		if files[i], err = st.Files(c.Key); err != nil {
			return nil, err
		}
	}
	if r.Differences, err = compare(entries[0], entries[1], files[0], files[1], c.Recipe.Exceptions); err != nil {
		return nil, err
	}
	r.Equal = !slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.Excepted == "" })
	if !r.Equal {
		r.Kept = dir
		return r, nil
	}
	return r, store.RemoveAll(dir)
}

// vary runs f, the second time with another umask, zone and locale. These are
// the process's own, so nothing else may be built meanwhile.
func vary(second bool, f func() (*Built, error)) (*Built, error) {
	if !second {
		return f()
	}
	defer setenv("TZ", "Pacific/Kiritimati")()
	defer setenv("LC_ALL", "tr_TR.UTF-8")()
	defer setUmask(0o077)()
	return f()
}

func setenv(name, value string) (restore func()) {
	old, had := os.LookupEnv(name)
	os.Setenv(name, value)
	return func() {
		if had {
			os.Setenv(name, old)
		} else {
			os.Unsetenv(name)
		}
	}
}

// reversed gives copies of sources whose files were made in the opposite
// order, so that a folder that is read unsorted shows another one.
type reversed struct {
	Provider
	dir string
}

// Source implements Provider.
func (r *reversed) Source(ctx context.Context, pin string) (string, error) {
	from, err := r.Provider.Source(ctx, pin)
	if err != nil {
		return "", err
	}
	to := filepath.Join(r.dir, pin)
	return to, copyReversed(from, to)
}

func copyReversed(from, to string) error {
	st, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case st.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !st.IsDir():
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, st.Mode()); err != nil {
			return err
		}
		return os.Chtimes(to, st.ModTime(), st.ModTime())
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	slices.Reverse(entries)
	for _, e := range entries {
		if err := copyReversed(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Chmod(to, st.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(to, st.ModTime(), st.ModTime())
}
