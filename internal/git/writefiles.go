// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// WriteFiles writes the files and symbolic links among entries, of a tree that
// CheckTree accepts, below root, where none of them is yet. They are as they are
// stored: no filter, hook or setting has a say, nor the umask over files.
// Submodules are left out. The error is a *MissingObject with the path of a blob
// that is not here.
func (r *Repo) WriteFiles(ctx context.Context, root *os.Root, entries []Entry) error {
	at := map[ID][]Entry{}
	var ids []ID
	for _, e := range entries {
		if e.Mode == ModeSubmodule {
			continue
		}
		if at[e.ID] == nil {
			ids = append(ids, e.ID)
		}
		at[e.ID] = append(at[e.ID], e)
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(e.Path)), 0o755); err != nil {
			return err
		}
	}
	return r.Contents(ctx, Chunks(ids), func(id ID, h Header, content io.Reader) error {
		if h.Kind != "blob" {
			return fmt.Errorf("%s: %w", plain(at[id][0].Path), &MissingObject{ID: id})
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		for _, e := range at[id] {
			if err := writeFile(root, e, data); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeFile(root *os.Root, e Entry, data []byte) error {
	name := filepath.FromSlash(e.Path)
	if e.Mode == ModeSymlink {
		if strings.Contains(string(data), "\x00") || len(data) == 0 {
			return fmt.Errorf("the symbolic link %s has no target that a system takes", plain(e.Path))
		}
		return root.Symlink(string(data), name)
	}
	perm := fs.FileMode(0o644)
	if e.Mode == ModeExecutable {
		perm = 0o755
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(perm), f.Close())
}
