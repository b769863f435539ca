// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/git"
)

// A scratch is a temporary repository that borrows every object of another
// one. What merges make lands here, so that the other one stays as it was
// until somebody asks for the result, and whatever it is configured to do
// (attributes, drivers, hooks) has no say.
type scratch struct {
	*git.Repo
	dir  string
	lock *filelock.Lock // tells others that the folder is in use
	z    *zlib.Writer
	buf  bytes.Buffer
	in   bufio.Reader
	unz  io.ReadCloser
}

func newScratch(ctx context.Context, source *git.Repo) (_ *scratch, err error) {
	s := &scratch{}
	if s.dir, s.lock, err = tempFolder(scratchFolder(), scratchName); err != nil {
		return nil, explainDisk(err, scratchFolder())
	}
	defer func() {
		if err != nil {
			s.remove()
			err = explainDisk(err, filepath.Dir(s.dir))
		}
	}()
	if s.Repo, err = git.Init(ctx, filepath.Join(s.dir, "repo.git")); err != nil {
		return nil, err
	}
	if err := s.Borrow(ctx, source); err != nil {
		return nil, err
	}
	info := filepath.Join(s.Dir(), "info")
	if err := os.MkdirAll(info, 0o777); err != nil {
		return nil, err
	}
	// No line of a source file is taken for the marker of a conflict.
	attributes := fmt.Sprintf("* conflict-marker-size=%d\n", markerSize)
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte(attributes), 0o666); err != nil {
		return nil, err
	}
	// Nothing here outlives the run, so nothing is worth compressing.
	if s.z, err = zlib.NewWriterLevel(&s.buf, zlib.NoCompression); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *scratch) remove() error {
	s.lock.Unlock()
	return os.RemoveAll(s.dir)
}

const scratchName = "dist-merge-*"

// tempFolder makes a folder that is locked while it is in use, and removes
// those of its kind that killed runs left.
func tempFolder(parent, pattern string) (dir string, lock *filelock.Lock, err error) {
	sweep(parent, pattern)
	if dir, err = os.MkdirTemp(parent, pattern); err != nil {
		return "", nil, err
	}
	if lock, err = filelock.Try(filepath.Join(dir, "lock")); err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, lock, nil
}

// sweepAge is how old a folder without a user must be before it is removed;
// its maker has had the time to lock it.
const sweepAge = 10 * time.Minute

// sweep removes what killed runs left. It is no error when it cannot.
func sweep(parent, pattern string) {
	left, _ := filepath.Glob(filepath.Join(parent, pattern))
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ours(info) || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		if lock, err := filelock.Try(filepath.Join(dir, "lock")); err == nil && lock != nil {
			os.RemoveAll(dir)
			lock.Unlock()
		}
	}
}

// write stores an object without a process: a rebase makes two commits a
// patch, and a process each would cost more than the merges.
func (s *scratch) write(kind string, content []byte) (git.ID, error) {
	head := fmt.Appendf(nil, "%s %d\x00", kind, len(content))
	h := sha1.New()
	h.Write(head)
	h.Write(content)
	id := git.ID(hex.EncodeToString(h.Sum(nil)))
	return id, s.store(id, head, content)
}

// store writes a loose object.
func (s *scratch) store(id git.ID, head, content []byte) error {
	folder := filepath.Join(s.Dir(), "objects", string(id[:2]))
	file := filepath.Join(folder, string(id[2:]))
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	s.buf.Reset()
	s.z.Reset(&s.buf)
	s.z.Write(head)
	s.z.Write(content)
	if err := s.z.Close(); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Git may read it at once: where upstream took a patch unchanged, the tree
	// that is made here is one of upstream's history, which a git process walks
	// meanwhile. Half a file is a corrupt object to it.
	fresh := filepath.Join(s.Dir(), "objects", "tmp_obj_dist")
	if err := os.WriteFile(fresh, s.buf.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

// loose reads an object that was made here, without asking a process; ok is
// false for one that was not.
func (s *scratch) loose(id git.ID, want string) (content []byte, ok bool) {
	f, err := os.Open(filepath.Join(s.Dir(), "objects", string(id[:2]), string(id[2:])))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	s.in.Reset(f)
	if s.unz == nil {
		s.unz, err = zlib.NewReader(&s.in)
	} else {
		err = s.unz.(zlib.Resetter).Reset(&s.in, nil)
	}
	if err != nil {
		return nil, false
	}
	var all bytes.Buffer
	if st, err := f.Stat(); err == nil {
		all.Grow(int(st.Size()) + bytes.MinRead)
	}
	if _, err := all.ReadFrom(s.unz); err != nil {
		return nil, false
	}
	head, content, ok := bytes.Cut(all.Bytes(), []byte{0})
	kind, size, _ := strings.Cut(string(head), " ")
	return content, ok && kind == want && size == strconv.Itoa(len(content))
}

func (s *scratch) commit(c git.Commit) (git.ID, error) {
	content, err := git.FormatCommit(c)
	if err != nil {
		return "", err
	}
	return s.write("commit", content)
}
