// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// baseTree returns the files of a commit of our own repository.
func baseTree(ctx context.Context, repo *git.Repo, commit git.ID) (git.ID, []git.Entry, error) {
	if _, err := git.ParseID(string(commit)); err != nil {
		return "", nil, err
	}
	c, err := repo.CommitInfo(ctx, string(commit))
	var unknown *git.Unknown
	if errors.As(err, &unknown) {
		return "", nil, verdict.Infraf("the commit %s of our main is not in this clone: fetch it, with 'git fetch --depth 1 origin %s'", commit.Short(), commit)
	}
	if err != nil {
		return "", nil, err
	}
	entries, err := repo.LsTree(ctx, c.Tree)
	return c.Tree, entries, err
}

// writeTree writes the files of a tree that keep accepts into a folder, which
// must not exist. It is not a checkout: no filter, hook or setting has a say,
// and the umask neither. Submodules are left out.
func writeTree(ctx context.Context, repo *git.Repo, entries []git.Entry, dir string, keep func(path string) bool) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	byID := map[git.ID][]git.Entry{}
	var ids []git.ID
	for _, e := range entries {
		if e.Mode == git.ModeSubmodule || keep != nil && !keep(e.Path) {
			continue
		}
		if byID[e.ID] == nil {
			ids = append(ids, e.ID)
		}
		byID[e.ID] = append(byID[e.ID], e)
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(e.Path)), 0o755); err != nil {
			return err
		}
	}
	return repo.Contents(ctx, git.Chunks(ids), func(id git.ID, h git.Header, content io.Reader) error {
		if h.Kind == "" {
			return fmt.Errorf("%s: %w", byID[id][0].Path, &git.MissingObject{ID: id})
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		for _, e := range byID[id] {
			if err := writeEntry(root, e, data); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeEntry(root *os.Root, e git.Entry, data []byte) error {
	name := filepath.FromSlash(e.Path)
	if e.Mode == git.ModeSymlink {
		return root.Symlink(string(data), name)
	}
	perm := fs.FileMode(0o644)
	if e.Mode == git.ModeExecutable {
		perm = 0o755
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(perm), f.Close())
}
