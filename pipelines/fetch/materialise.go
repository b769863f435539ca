// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// writers is how many git processes inflate blobs side by side.
const writers = 2

// longestTarget bounds what a symbolic link may point at, in bytes.
const longestTarget = 4096

// materialise writes sources as plain files into the new folder dir. Symbolic
// links are made last, when no file is written any more, so that nothing goes
// through one; the root keeps it all inside in any case.
func materialise(ctx context.Context, dir string, parts []part) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range parts {
		if err := writeFiles(ctx, root, p); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := writeLinks(ctx, root, p); err != nil {
			return err
		}
	}
	return nil
}

func writeFiles(ctx context.Context, root *os.Root, p part) error {
	places := map[git.ID][]git.Entry{} // many paths may share a blob
	folders := map[string]bool{"": true, ".": true}
	var blobs []git.ID
	for _, x := range p.entries {
		x.Path = joinPath(p.path, x.Path)
		if d := path.Dir(x.Path); !folders[d] {
			folders[d] = true
			if err := root.MkdirAll(d, 0o777); err != nil {
				return err
			}
		}
		if x.Mode == git.ModeSymlink {
			continue
		}
		if len(places[x.ID]) == 0 {
			blobs = append(blobs, x.ID)
		}
		places[x.ID] = append(places[x.ID], x)
	}
	chunks := git.Chunks(blobs)
	group, ctx := errgroup.WithContext(ctx)
	for range min(writers, len(chunks)) {
		group.Go(func() error {
			return p.repo.Contents(ctx, chunks, func(id git.ID, h git.Header, content io.Reader) error {
				where := places[id]
				if h.Kind != "blob" {
					return fmt.Errorf("%s: %w", quoted(where[0].Path), &git.MissingObject{ID: id})
				}
				if err := writeFile(root, where[0], content); err != nil {
					return err
				}
				for _, other := range where[1:] {
					if err := copyFile(root, where[0].Path, other); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return group.Wait()
}

func writeFile(root *os.Root, x git.Entry, content io.Reader) error {
	perm := os.FileMode(0o666)
	if x.Mode == git.ModeExecutable {
		perm = 0o777
	}
	f, err := root.OpenFile(x.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func copyFile(root *os.Root, from string, to git.Entry) error {
	f, err := root.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeFile(root, to, f)
}

func writeLinks(ctx context.Context, root *os.Root, p part) error {
	cat, err := p.repo.CatFile(ctx)
	if err != nil {
		return err
	}
	defer cat.Close()
	for _, x := range p.entries {
		if x.Mode != git.ModeSymlink {
			continue
		}
		h, err := cat.Header(x.ID)
		if err != nil {
			return err
		}
		if h.Size > longestTarget || h.Size == 0 {
			return fmt.Errorf("%s: the symbolic link's target has %d bytes", quoted(x.Path), h.Size)
		}
		target, err := cat.Read(x.ID, "blob")
		if err != nil {
			return err
		}
		if err := root.Symlink(string(target), joinPath(p.path, x.Path)); err != nil {
			return err
		}
	}
	return nil
}
