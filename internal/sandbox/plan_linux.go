// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The kinds of a mount.
const (
	kindFolder   = "folder"
	kindSymlink  = "symlink"  // From is its target
	kindBind     = "bind"     // read-only unless Writable; with what is mounted below
	kindDevice   = "device"   // a device node of the host, its inode read-only
	kindTmpfs    = "tmpfs"    // Size, Mode
	kindProc     = "proc"     // of the new PID namespace
	kindData     = "data"     // a read-only file with Data
	kindReadOnly = "readonly" // the mount at To, not below, from now on
)

// A mount is one step of putting the step's file system together on an empty
// tmpfs. Both ways follow the same list.
type mount struct {
	Kind     string
	From, To string `json:",omitempty"`
	Writable bool   `json:",omitempty"`
	Size     int64  `json:",omitempty"`
	Mode     uint32 `json:",omitempty"`
	Data     string `json:",omitempty"`
}

// hostTop are the top entries of the host that hold its tools.
var hostTop = []string{"bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr"}

// hostEtc is what of the host's /etc finding programs and libraries needs;
// none of it is private.
var hostEtc = []string{"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"}

// procCovered are places in /proc where a caller that is root could change the
// machine even without capabilities.
var procCovered = []string{"acpi", "bus", "driver", "fs", "irq", "mtrr", "scsi", "sys", "sysrq-trigger"}

// plan lists the mounts of s, in order.
func plan(s Spec) ([]mount, error) {
	list, err := planRoot(s.Root)
	if err != nil {
		return nil, err
	}
	list = append(list, mount{Kind: kindProc, To: "/proc"})
	for _, name := range procCovered {
		if _, err := os.Stat("/proc/" + name); err == nil {
			list = append(list, mount{Kind: kindBind, From: "/proc/" + name, To: "/proc/" + name})
		}
	}
	list = append(list, planDev(s.tmp())...)
	list = append(list,
		mount{Kind: kindFolder, To: "/sys"}, mount{Kind: kindFolder, To: "/run"},
		mount{Kind: kindTmpfs, To: "/tmp", Size: s.tmp(), Mode: 0o1777},
		mount{Kind: kindTmpfs, To: Home, Size: s.tmp(), Mode: 0o700})
	binds := slices.Clone(s.Binds) // an outer one comes before what is inside it
	slices.SortFunc(binds, func(a, b Bind) int { return strings.Compare(a.To, b.To) })
	for _, b := range binds {
		from, err := filepath.EvalSymlinks(b.From)
		if err != nil {
			return nil, &NotStarted{What: "bind " + b.To, Why: err.Error()}
		}
		list = append(list, mount{Kind: kindBind, From: from, To: b.To, Writable: b.Writable})
	}
	return append(list, mount{Kind: kindReadOnly, To: "/"}), nil
}

func planRoot(root string) (list []mount, err error) {
	top, etc := hostTop, hostEtc
	if root != "" {
		if root, err = filepath.EvalSymlinks(root); err != nil {
			return nil, &NotStarted{What: "root", Why: err.Error()}
		}
		entries, err := os.ReadDir(root)
		if err != nil {
			return nil, &NotStarted{What: "root", Why: err.Error()}
		}
		top, etc = nil, nil
		for _, e := range entries {
			if !slices.Contains(ownTop, e.Name()) {
				top = append(top, e.Name())
			}
		}
	}
	show := func(name string) error {
		from := filepath.Join("/", root, name)
		info, err := os.Lstat(from)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return &NotStarted{What: "root", Why: err.Error()}
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(from)
			if err != nil {
				return &NotStarted{What: "root", Why: err.Error()}
			}
			list = append(list, mount{Kind: kindSymlink, From: target, To: path.Join("/", name)})
		case info.IsDir() || info.Mode().IsRegular():
			list = append(list, mount{Kind: kindBind, From: from, To: path.Join("/", name)})
		default:
			return &NotStarted{What: "root", Why: fmt.Sprintf("%s is neither file, folder nor link", from)}
		}
		return nil
	}
	for _, name := range top {
		if err := show(name); err != nil {
			return nil, err
		}
	}
	for _, name := range etc {
		if err := show("etc/" + name); err != nil {
			return nil, err
		}
	}
	for _, f := range etcFiles(root) {
		list = append(list, mount{Kind: kindData, To: f.name, Data: f.data})
	}
	return list, nil
}

func planDev(size int64) []mount {
	list := []mount{{Kind: kindTmpfs, To: "/dev", Size: 1 << 20, Mode: 0o755}}
	for _, name := range []string{"full", "null", "random", "tty", "urandom", "zero"} {
		list = append(list, mount{Kind: kindDevice, From: "/dev/" + name, To: "/dev/" + name})
	}
	for _, link := range [][2]string{
		{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"},
		{"/proc/self/fd/2", "stderr"},
	} {
		list = append(list, mount{Kind: kindSymlink, From: link[0], To: "/dev/" + link[1]})
	}
	return append(list,
		mount{Kind: kindTmpfs, To: "/dev/shm", Size: size, Mode: 0o1777},
		mount{Kind: kindReadOnly, To: "/dev"})
}
