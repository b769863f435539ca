// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// unpackDebian makes a root file system of the locked packages, in the order of
// their names. No maintainer script runs: what those would do, as far as builds
// need it, is in debianBefore and debianAfter.
func unpackDebian(ctx context.Context, pin *pins.Pin, entries []*store.Entry, dir string) error {
	if len(entries) != len(pin.Lock.Files) {
		return fmt.Errorf("%d files came for %d packages", len(entries), len(pin.Lock.Files))
	}
	tree, err := unpack.Begin(dir, unpack.RootFS(), unpack.Replace(), unpack.AllowGit(),
		unpack.SetidBits(unpack.ClearSetid), unpack.ModTime(timeOfAll(pin.Lock)))
	if err != nil {
		return err
	}
	defer tree.Discard()
	before, err := debianBefore()
	if err != nil {
		return err
	}
	if err := tree.Tar(ctx, bytes.NewReader(before)); err != nil {
		return err
	}
	order := byName(pin.Lock.Files)
	work := filepath.Join(filepath.Dir(dir), "packages")
	if err := os.Mkdir(work, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	status := make([]string, 0, len(order))
	err = ahead(ctx, order, func(ctx context.Context, i int) (*debian, error) {
		return readDebian(ctx, entries[i].Path, filepath.Join(work, fmt.Sprint(i)))
	}, func(i int, d *debian) error {
		name := pin.Lock.Files[i].Name
		if d.name != name {
			return fmt.Errorf("the file of %s is the package %q", name, d.name)
		}
		err := d.addTo(ctx, tree)
		if err != nil {
			return fmt.Errorf("package %s: %w", name, err)
		}
		if err := onlyMerged(name, tree.Replaced()); err != nil {
			return err
		}
		status = append(status, d.status())
		return nil
	})
	if err != nil {
		return err
	}
	after, err := debianAfter(tree, status)
	if err != nil {
		return err
	}
	if err := tree.Tar(ctx, bytes.NewReader(after)); err != nil {
		return err
	}
	return tree.Commit()
}

// byName returns the indexes of files in the order of their names.
func byName(files []pins.File) []int {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return strings.Compare(files[a].Name+"\x00"+files[a].Platform, files[b].Name+"\x00"+files[b].Platform)
	})
	return order
}

// onlyMerged refuses that a package replaces another's file, as dpkg does. The
// links of merged /usr come twice where base-files has them.
func onlyMerged(name string, replaced []string) error {
	for _, p := range replaced {
		if !slices.ContainsFunc(mergedUsr, func(l link) bool { return l.name == p }) {
			return verdict.Failf("package %s has the file %s, which a package before it has too", name, p)
		}
	}
	return nil
}

// readAhead is how many packages are decompressed before their turn comes:
// decompression is most of the work, and what waits costs room on the disk.
const readAhead = 8

// ahead makes things side by side and uses them one by one, in order.
func ahead[T any](ctx context.Context, order []int, produce func(context.Context, int) (T, error), use func(int, T) error) error {
	type result struct {
		made T
		err  error
	}
	g, ctx := errgroup.WithContext(ctx)
	ready := make(chan chan result, readAhead)
	g.Go(func() error {
		defer close(ready)
		for _, i := range order {
			c := make(chan result, 1)
			select {
			case ready <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
			go func() {
				made, err := produce(ctx, i)
				c <- result{made, err}
			}()
		}
		return nil
	})
	g.Go(func() error {
		var first error
		n := 0
		for c := range ready {
			r := <-c // all that began is waited for
			i := order[n]
			n++
			if first == nil {
				first = r.err
			}
			if first == nil {
				first = use(i, r.made)
			}
			if first == nil {
				first = ctx.Err()
			}
			if first != nil {
				break
			}
		}
		return first
	})
	err := g.Wait()
	for c := range ready {
		<-c
	}
	return err
}

// A debian is one package that waits to be unpacked.
type debian struct {
	name    string
	control string // the fields of its control file
	data    string // where its data lies decompressed
	file    string // the package
}

// readDebian reads a package's control file and decompresses its data.
func readDebian(ctx context.Context, file, work string) (*debian, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, control, err := unpack.DebMember(f, "control.tar")
	if err != nil {
		return nil, err
	}
	dir := work + ".control"
	defer os.RemoveAll(dir)
	if err := unpack.Tar(ctx, control, dir, unpack.MaxBytes(64<<20), unpack.SetidBits(unpack.ClearSetid)); err != nil {
		return nil, fmt.Errorf("control of %s: %w", filepath.Base(file), err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "control"))
	if err != nil {
		return nil, err
	}
	d := &debian{control: strings.TrimSpace(string(text)) + "\n", file: file, data: work + ".tar"}
	for line := range strings.Lines(d.control) {
		if v, ok := strings.CutPrefix(line, "Package:"); ok {
			d.name = strings.TrimSpace(v)
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	_, data, err := unpack.DebMember(f, "data.tar")
	if err != nil {
		return nil, err
	}
	out, err := os.Create(d.data)
	if err != nil {
		return nil, err
	}
	err = unpack.Decompress(ctx, out, data, maxPackage)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return d, err
}

// maxPackage bounds one package's unpacked data, in bytes.
const maxPackage = 8 << 30

// addTo unpacks the package into the tree.
func (d *debian) addTo(ctx context.Context, tree *unpack.Tree) error {
	f, err := os.Open(d.data)
	if err != nil {
		return err
	}
	defer os.Remove(d.data)
	defer f.Close()
	return tree.Tar(ctx, f)
}

// status is what dpkg's database says of an installed package.
func (d *debian) status() string {
	first, rest, _ := strings.Cut(d.control, "\n")
	return first + "\nStatus: install ok installed\n" + rest
}
