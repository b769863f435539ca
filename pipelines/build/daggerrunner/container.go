// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"dagger.io/dagger"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// stepPath is where a container has dist-step.
const stepPath = "/dist-step"

// owner is the step's user and group, as the engine writes them.
var owner = fmt.Sprintf("%d:%d", sandbox.User, sandbox.User)

// tmpSize is that of /tmp and HOME, as in the sandbox, in bytes.
const tmpSize = 2 << 30

// base returns a container with dist-step and nothing else.
func (r *Runner) base() *dagger.Container {
	return r.client.Container().WithMountedFile(stepPath, r.client.Host().File(r.step))
}

// container returns what the first step of a job starts in.
func (r *Runner) container(j build.Job) (*dagger.Container, error) {
	ctr, err := r.root(r.client.Container(), j.Root)
	if err != nil {
		return nil, err
	}
	ctr = ctr.WithMountedFile(stepPath, r.client.Host().File(r.step))
	binds := slices.Clone(j.Binds) // an outer one comes before what is inside it
	slices.SortFunc(binds, func(a, b sandbox.Bind) int { return cmp.Compare(a.To, b.To) })
	for _, b := range binds {
		if ctr, err = r.input(ctr, b, int(j.Epoch)); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{build.WorkDir, build.OutputDir} {
		ctr = ctr.WithMountedDirectory(dir, r.client.Directory())
	}
	for _, dir := range []string{"/tmp", sandbox.Home, "/dev/shm"} {
		ctr = ctr.WithMountedTemp(dir, dagger.ContainerWithMountedTempOpts{Size: tmpSize})
	}
	return ctr, nil
}

// root gives the container the toolchain's root file system, without what a step
// has of its own. Its files keep their times.
func (r *Runner) root(ctr *dagger.Container, root string) (*dagger.Container, error) {
	entries, err := os.ReadDir(root)
	if root != "" && err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		dir, err := filepath.EvalSymlinks(root)
		if err != nil {
			return nil, err
		}
		ctr = ctr.WithRootfs(r.client.Host().Directory(dir, dagger.HostDirectoryOpts{Exclude: sandbox.OwnTop()}))
	}
	files := sandbox.Accounts(root)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		ctr = ctr.WithNewFile(name, files[name], dagger.ContainerWithNewFileOpts{Permissions: 0o644})
	}
	return ctr, nil
}

// input shows a folder or file of the host, read-only, with the time of all
// sources and as the step's own, as the sandbox does. An upload keeps modes and
// links, but of folders not the time, and the engine takes equal content for the
// same whatever its times are.
func (r *Runner) input(ctr *dagger.Container, b sandbox.Bind, epoch int) (*dagger.Container, error) {
	from, err := filepath.EvalSymlinks(b.From)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		dir := r.client.Host().Directory(from).Chown("/", owner).WithTimestamps(epoch)
		return ctr.WithMountedDirectory(b.To, dir, dagger.ContainerWithMountedDirectoryOpts{ReadOnly: true}), nil
	}
	return ctr.WithMountedFile(b.To, r.client.Host().File(from).Chown(owner).WithTimestamps(epoch)), nil
}
