// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Folders on a tmpfs that stands in for / while the step's root is put
// together: the new root, the machine's, and files with data.
const (
	newRoot = "/new"
	oldRoot = "/old"
	dataDir = "/data"
)

// mountAll puts the step's file system together and makes it this process's
// root; the machine's is gone afterwards.
func mountAll(list []mount) *stageError {
	if err := scaffold(); err != nil {
		return &stageError{"mounts", err}
	}
	root, err := os.OpenRoot(newRoot)
	if err != nil {
		return &stageError{"mounts", err}
	}
	defer root.Close()
	for i, m := range list {
		if err := m.do(root, i); err != nil {
			return &stageError{"mount " + m.To, err}
		}
	}
	root.Close()
	if err := enter(); err != nil {
		return &stageError{"mounts", err}
	}
	return nil
}

func scaffold() error {
	const base = "/tmp" // exists everywhere; what it holds stays in reach below oldRoot
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	for _, d := range []string{newRoot, oldRoot, dataDir} {
		if err := os.Mkdir(base+d, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", base+newRoot, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	if err := unix.PivotRoot(base, base+oldRoot); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	return os.Chdir("/")
}

func enter() error {
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the machine's root: %w", err)
	}
	if err := os.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the scaffold: %w", err)
	}
	return os.Chdir("/")
}

func (m mount) do(root *os.Root, number int) error {
	at := newRoot + m.To
	switch m.Kind {
	case kindFolder:
		return place(root, m.To, true)
	case kindSymlink:
		if err := place(root, path.Dir(m.To), true); err != nil {
			return err
		}
		return root.Symlink(m.From, m.To[1:])
	case kindTmpfs:
		if err := place(root, m.To, true); err != nil {
			return err
		}
		return unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("mode=%04o,size=%d", m.Mode, m.Size))
	case kindProc:
		if err := place(root, m.To, true); err != nil {
			return err
		}
		return unix.Mount("proc", at, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	case kindReadOnly:
		return attributes(at, 0, unix.MOUNT_ATTR_RDONLY)
	case kindData:
		from := fmt.Sprintf("%s/%d", dataDir, number)
		if err := os.WriteFile(from, []byte(m.Data), 0o444); err != nil {
			return err
		}
		return bind(root, from, m.To, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	case kindDevice:
		return bind(root, oldRoot+m.From, m.To, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	case kindBind:
		flags := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if !m.Writable {
			flags |= unix.MOUNT_ATTR_RDONLY
		}
		return bind(root, oldRoot+m.From, m.To, flags)
	}
	return fmt.Errorf("unknown kind %q", m.Kind)
}

func bind(root *os.Root, from, to string, flags uint64) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := place(root, to, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(from, newRoot+to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return attributes(newRoot+to, unix.AT_RECURSIVE, flags)
}

func attributes(at string, how uint, flags uint64) error {
	if err := unix.MountSetattr(unix.AT_FDCWD, at, how, &unix.MountAttr{Attr_set: flags}); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	return nil
}

// place makes a folder or an empty file to mount on, unless there is one. The
// folder os.Root keeps a link in the toolchain from leading out of the root.
func place(root *os.Root, to string, folder bool) error {
	if to == "/" {
		return nil
	}
	parent, name := path.Dir(to), to[1:]
	if folder {
		parent = to
	}
	if parent != "/" {
		if err := root.MkdirAll(parent[1:], 0o755); err != nil {
			return placeError(parent, err)
		}
	}
	if folder {
		return nil
	}
	if _, err := root.Stat(name); err == nil {
		return nil
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return placeError(to, err)
	}
	return f.Close()
}

func placeError(to string, err error) error {
	if errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%s is not in the read-only folder that it would be mounted in", to)
	}
	return err
}
