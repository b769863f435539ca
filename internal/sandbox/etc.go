// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// Accounts of the step, whatever the machine's.
const (
	passwd = "root:x:0:0:root:/root:/bin/sh\nbuild:x:1000:1000:build:/home/build:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
	group  = "root:x:0:\nbuild:x:1000:\nnogroup:x:65534:\n"
	hosts  = "127.0.0.1 localhost build\n::1 localhost\n"
)

// ownTop are the top entries that the sandbox makes itself.
var ownTop = []string{"dev", "proc", "sys", "tmp", "home", "root", "run", "lost+found"}

// OwnTop returns the top entries of a toolchain's root that a step does not
// see, because it has its own or none.
func OwnTop() []string { return slices.Clone(ownTop) }

// Accounts returns the files with the step's accounts that are laid over those
// of a root, by their paths inside.
func Accounts(root string) map[string]string {
	files := map[string]string{}
	for _, f := range etcFiles(root) {
		if f.name != "/etc/hosts" {
			files[f.name] = f.data
		}
	}
	return files
}

type etcFile struct{ name, data string }

// etcFiles are the files that are laid over a root's /etc. A toolchain's /etc
// is read-only: a file can only be laid over one.
func etcFiles(root string) (files []etcFile) {
	for _, f := range []etcFile{{"/etc/passwd", passwd}, {"/etc/group", group}, {"/etc/hosts", hosts}} {
		if root != "" {
			if info, err := os.Lstat(filepath.Join(root, "etc")); err == nil && info.IsDir() {
				if info, err := os.Lstat(filepath.Join(root, f.name)); err != nil || !info.Mode().IsRegular() {
					continue
				}
			}
		}
		files = append(files, f)
	}
	return files
}
