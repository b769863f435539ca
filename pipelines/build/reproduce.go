// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/run"
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
	Kept        [2]string    `json:"kept,omitzero"`    // where both builds lie when they differ
	Report      string       `json:"report,omitempty"` // what diffoscope says of them, where it is installed
}

// varied is what Reproduce varies of a component, beside the day and the order of
// work. Another runner than that of this machine sees nothing of the machine, and
// knows sources by their content. Those of the work tree are copied once.
func (b *Builder) varied(c *PlannedComponent) []string {
	if _, here := b.Runner.(*HostRunner); !here {
		return []string{"number of processors", "time"}
	}
	list := []string{"folder outside", "number of processors", "umask", "time zone and locale of the caller", "time"}
	if len(c.Recipe.Pins) > 0 {
		list = append(list, "order in which source files were made")
	}
	return list
}

// Reproduce builds a component twice, with everything varied that may not
// matter, and compares. The first build is the one that the store has, or is put
// there; the second begins from nothing. What the component needs must be made.
func (b *Builder) Reproduce(ctx context.Context, c *PlannedComponent, made map[string]*Built) (*Reproduction, error) {
	if c.err != nil {
		return nil, c.err
	}
	local := *b
	local.Remote = nil // both are to be builds of this machine
	b = &local
	b.Progress.Step("%s: build 1 of 2", c.Name)
	first, err := b.one(ctx, c, made)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.Cache.Dir, "reproduce-"+c.Name+"-")
	if err != nil {
		return nil, store.Explain(err, b.Cache.Dir)
	}
	r := &Reproduction{Name: c.Name, Key: c.Key, Varied: b.varied(c), Sums: [2]string{first.Sum}}
	second, st, err := b.again(ctx, c, made, dir)
	if err != nil {
		rmtree.All(dir)
		return nil, err
	}
	r.Sums[1] = second.Sum
	if r.Differences, err = compareStores(b.Store, st, c); err != nil {
		return nil, err
	}
	r.Equal = !slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.Excepted == "" })
	if !r.Equal {
		r.Kept = [2]string{first.Path, second.Path}
		r.Report = diffoscope(ctx, r.Kept, filepath.Join(dir, "diffoscope.txt"))
		return r, nil
	}
	return r, rmtree.All(dir)
}

// diffoscope lets the program of that name describe how two folders differ, and
// returns the file that holds its words; empty where there is no such program
// or it has none. It may take long on large binaries, so it is bounded.
func diffoscope(ctx context.Context, folders [2]string, report string) string {
	run.Command{
		Path: "diffoscope", Args: []string{"--text", report, "--", folders[0], folders[1]},
		Env: []string{"PATH=" + searchPath(), "HOME=/nonexistent", "LC_ALL=C.UTF-8"}, Timeout: 10 * time.Minute,
	}.Run(ctx) // its status is 1 when there are differences, which we know
	if st, err := os.Stat(report); err != nil || st.Size() == 0 {
		return ""
	}
	return report
}

// again builds the component once more, in a store of its own and on one
// processor, from sources that were copied in another order.
func (b *Builder) again(ctx context.Context, c *PlannedComponent, made map[string]*Built, dir string) (*Built, *store.Store, error) {
	st, err := store.Open(filepath.Join(dir, "a-folder-with-a-much-longer-name", "store"))
	if err != nil {
		return nil, nil, err
	}
	v := *b
	v.Store, v.CPUs, v.Provider = st, 1, &reversed{b.Provider, filepath.Join(dir, "reversed")}
	b.Progress.Step("%s: build 2 of 2", c.Name)
	defer setenv("TZ", "Pacific/Kiritimati")()
	defer setenv("LC_ALL", "tr_TR.UTF-8")()
	defer setUmask(0o077)()
	built, err := v.one(ctx, c, made)
	return built, st, err
}

// compareStores compares a component in two stores.
func compareStores(a, b *store.Store, c *PlannedComponent) ([]Difference, error) {
	var entries [2]*store.Entry
	var files [2][]store.File
	for i, st := range []*store.Store{a, b} {
		var err error
		if entries[i], err = st.Get(c.Key); err != nil {
			return nil, err
		}
		if files[i], err = st.Files(c.Key); err != nil {
			return nil, err
		}
	}
	return compare(entries[0], entries[1], files[0], files[1], c.Recipe.Exceptions)
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
