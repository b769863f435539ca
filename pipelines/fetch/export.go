// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/internal/linktree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// An Exported is what an export wrote.
type Exported struct {
	Name  string    `json:"name"`
	To    string    `json:"to"`
	Files int       `json:"files"`
	Size  int64     `json:"size"` // bytes
	Date  time.Time `json:"date"` // of all files
}

// Export writes the content of a pin's lock as files into a folder: modes as
// locked, and the date of the lock on everything, so that the same lock gives
// the same files. A folder that is not empty is refused, unless force is set:
// then what is in the way is replaced and the rest stays. One that a killed
// export of the same left is finished. Nothing is ever written through a symbolic
// link.
func (e *Engine) Export(ctx context.Context, p *pins.Pin, to string, force bool) (*Exported, error) {
	if err := mayClaim(to, force); err != nil {
		return nil, err
	}
	entries, err := e.Content(ctx, p)
	if err != nil {
		return nil, err
	}
	what := p.Name
	for _, entry := range entries {
		what += " " + string(entry.Key)
	}
	folder, err := takeFolder(to, what, force)
	if err != nil {
		return nil, wrap(p, explainTarget(err, to))
	}
	defer folder.leave()
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	x := &exporter{root: root, date: p.Lock.Date, folders: map[string]bool{".": true}}
	if x.date.IsZero() {
		x.date = time.Unix(0, 0).UTC()
	}
	out := &Exported{Name: p.Name, To: to, Date: x.date}
	for i, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := ""
		if i < len(p.Lock.Files) && len(p.Lock.Files) == len(entries) {
			name = p.Lock.Files[i].Name
		}
		if err := x.entry(e.Store, entry, name); err != nil {
			return nil, wrap(p, explainTarget(err, to))
		}
		out.Files += entry.Files
		out.Size += entry.Size
	}
	// The dates of folders are set before the mark goes, so that one without it
	// is whole, and again for the folder that it was in.
	if err := errors.Join(x.dateFolders(), folder.finish(), x.dateFolders()); err != nil {
		return nil, wrap(p, explainTarget(err, to))
	}
	return out, nil
}

// explainTarget puts what a disk refuses into a sentence.
func explainTarget(err error, to string) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return verdict.Infraf("the disk of %s is full (%w): free room there and run the same again, or name a folder on another disk", to, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return verdict.Infraf("%s cannot be written (%w): name a folder that can", to, err)
	}
	return err
}

type exporter struct {
	root    *os.Root
	date    time.Time
	folders map[string]bool
}

// entry copies one entry of the store; name is that of an entry that is a file.
func (x *exporter) entry(s *store.Store, entry *store.Entry, name string) error {
	files, err := s.Files(entry.Key)
	if err != nil {
		return err
	}
	var links []store.File
	for _, f := range files {
		from := filepath.Join(entry.Path, filepath.FromSlash(f.Path))
		if f.Path == "" {
			from, f.Path = entry.Path, name
			if name == "" || !fs.ValidPath(name) {
				return fmt.Errorf("a file of the lock has the name %s", quoted(name))
			}
		}
		if f.Mode == "120000" {
			links = append(links, f)
			continue
		}
		if err := x.file(from, f); err != nil {
			return err
		}
	}
	for _, f := range links {
		if err := x.link(filepath.Join(entry.Path, filepath.FromSlash(f.Path)), f); err != nil {
			return err
		}
	}
	return nil
}

// clear makes room for a path: folders above it are folders and no links, and
// nothing is there.
func (x *exporter) clear(name string) error {
	if err := x.folder(path.Dir(name)); err != nil {
		return err
	}
	return x.root.RemoveAll(name)
}

func (x *exporter) folder(name string) error {
	if x.folders[name] {
		return nil
	}
	if err := x.folder(path.Dir(name)); err != nil {
		return err
	}
	st, err := x.root.Lstat(name)
	if err == nil && !st.IsDir() {
		if err := x.root.Remove(name); err != nil {
			return err
		}
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = x.root.Mkdir(name, 0o777)
	}
	if err == nil {
		x.folders[name] = true
	}
	return err
}

func (x *exporter) file(from string, f store.File) error {
	if f.Path == Unfinished {
		return fmt.Errorf("the source has a file %s, which an export needs itself", Unfinished)
	}
	if err := x.clear(f.Path); err != nil {
		return err
	}
	perm := os.FileMode(0o644)
	if f.Mode == "100755" {
		perm = 0o755
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := x.root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	if err := errors.Join(out.Chmod(perm), out.Close()); err != nil { // whatever the umask is
		return err
	}
	return x.root.Chtimes(f.Path, x.date, x.date)
}

func (x *exporter) link(from string, f store.File) error {
	if err := x.clear(f.Path); err != nil {
		return err
	}
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if err := x.root.Symlink(target, f.Path); err != nil {
		return err
	}
	return linktree.DateLink(filepath.Join(x.root.Name(), filepath.FromSlash(f.Path)), x.date)
}

// dateFolders dates the folders when nothing is written into them any more.
func (x *exporter) dateFolders() error {
	for name := range x.folders {
		if err := x.root.Chmod(name, 0o755); err != nil {
			return err
		}
		if err := x.root.Chtimes(name, x.date, x.date); err != nil {
			return err
		}
	}
	return nil
}
