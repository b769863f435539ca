// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/run"
)

// A Repo is a repository on this machine, usually a bare one that Init made.
// Its methods may be used by several goroutines at once; git's own locks
// guard the files.
type Repo struct{ dir string }

// Dir is the repository's git directory, an absolute path.
func (r *Repo) Dir() string { return r.dir }

// Init makes a bare repository in dir, or opens the one that is there: doing
// it twice, or in two processes at once, does no harm.
func Init(ctx context.Context, dir string) (*Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if isGitDir(dir) {
		return Open(ctx, dir)
	}
	// Made aside and moved into place, so that nobody opens half of one.
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(filepath.Dir(dir), ".init-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(aside)
	fresh := filepath.Join(aside, "new")
	_, err = output(ctx, Command("", "init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main", "--end-of-options", fresh))
	if err != nil {
		return nil, fmt.Errorf("make the repository %s: %w", dir, err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if isGitDir(dir) {
			return Open(ctx, dir) // another process was faster
		}
		for _, name := range []string{"HEAD", "objects"} {
			if _, there := os.Lstat(filepath.Join(dir, name)); there == nil {
				return nil, &Damaged{dir, errors.New("it lacks one of HEAD, objects and refs")}
			}
		}
		return nil, fmt.Errorf("make the repository %s: %w", dir, err)
	}
	return &Repo{dir}, nil
}

// Open opens the repository in dir: a git directory, or the top folder of a
// checkout. Folders above are not searched.
func Open(ctx context.Context, dir string) (*Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := Command(dir)
	if !isGitDir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			return nil, fmt.Errorf("there is no git repository in %s", dir)
		}
		c = Command("")
		c.Dir = dir
	}
	c.Args = append(c.Args, "rev-parse", "--absolute-git-dir", "--show-object-format")
	out, err := output(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("open the repository %s: %w", dir, asDamage(dir, err))
	}
	gitDir, format, _ := strings.Cut(line(out), "\n")
	if format != "sha1" {
		return nil, &ObjectFormat{dir, format}
	}
	return &Repo{gitDir}, nil
}

// isGitDir has git's own criteria, less the content of HEAD.
func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Command returns a git command on this repository that cannot touch the
// network; see the function Command.
func (r *Repo) Command(args ...string) run.Command { return Command(r.dir, args...) }

// Output runs Command and returns its stdout.
func (r *Repo) Output(ctx context.Context, args ...string) ([]byte, error) {
	return output(ctx, r.Command(args...))
}

// Shallow tells whether the repository's history is cut off somewhere.
func (r *Repo) Shallow() bool {
	info, err := os.Stat(filepath.Join(r.commonDir(), "shallow"))
	return err == nil && info.Size() > 0
}

// commonDir is where a linked work tree keeps what it shares.
func (r *Repo) commonDir() string {
	b, err := os.ReadFile(filepath.Join(r.dir, "commondir"))
	if err != nil {
		return r.dir
	}
	if d := line(b); filepath.IsAbs(d) {
		return d
	}
	return filepath.Join(r.dir, line(b))
}
