// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// taskRoom is for the processes and threads of the sandbox itself, which a
// cgroup and RLIMIT_NPROC count too.
const taskRoom = 64

// A cgroup holds one step, where a folder of the unified hierarchy is
// delegated to us: with the controllers memory and pids for its children.
type cgroup struct {
	dir  string
	file *os.File
}

// newCgroup makes a cgroup for a step in the first usable parent; nil when
// there is none.
func newCgroup(l Limits) *cgroup {
	for _, parent := range cgroupParents("/proc") {
		if g, err := makeCgroup(parent, l); err == nil {
			return g
		}
	}
	return nil
}

// cgroupParents lists the folders in which a child could be made: our own
// cgroup (a prepared one without processes, or the root of a container) and
// the one above, where a delegation left us in a leaf.
func cgroupParents(proc string) []string {
	mounted, dir := ownCgroup(proc, "cgroup2", "")
	if dir == "" {
		return nil
	}
	parents := []string{dir}
	if dir != mounted {
		parents = append(parents, filepath.Dir(dir))
	}
	return slices.DeleteFunc(parents, func(p string) bool { return !delegates(p) })
}

// ownCgroup finds where a hierarchy is mounted and our folder in it: the
// unified one, or that of a controller of the first version. Both are empty
// when it is not to be seen.
func ownCgroup(proc, kind, controller string) (mounted, dir string) {
	self, err := os.ReadFile(proc + "/self/cgroup")
	if err != nil {
		return "", ""
	}
	own := ""
	for line := range strings.Lines(string(self)) { // number:controllers:path
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) {
			own = f[2]
		}
	}
	mounts, err := os.ReadFile(proc + "/self/mountinfo")
	if own == "" || err != nil {
		return "", ""
	}
	for line := range strings.Lines(string(mounts)) { // see proc(5)
		before, after, ok := strings.Cut(line, " - ")
		fields, of := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(of) < 3 || of[0] != kind {
			continue
		}
		if controller != "" && !slices.Contains(strings.Split(of[2], ","), controller) {
			continue
		}
		if below, ok := strings.CutPrefix(own, strings.TrimSuffix(fields[3], "/")); ok {
			return fields[4], filepath.Join(fields[4], below)
		}
	}
	return "", ""
}

// delegates reports whether children of dir can limit memory and processes.
func delegates(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	have := strings.Fields(string(data))
	return err == nil && slices.Contains(have, "memory") && slices.Contains(have, "pids") &&
		unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
}

// newPidsGroup makes a cgroup of the first version that bounds processes only.
// For root alone: others may not, and have RLIMIT_NPROC, from which the kernel
// exempts root.
func newPidsGroup(l Limits) *cgroup {
	if _, dir := ownCgroup("/proc", "cgroup", "pids"); os.Getuid() == 0 && dir != "" && l.Processes > 0 {
		if g, err := makeCgroup(dir, Limits{Processes: l.Processes}); err == nil {
			return g
		}
	}
	return nil
}

func makeCgroup(parent string, l Limits) (*cgroup, error) {
	removeStale(parent)
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	g := &cgroup{dir: dir}
	err = g.limit(l)
	if err == nil {
		g.file, err = os.Open(dir)
	}
	if err != nil {
		os.Remove(dir)
		return nil, err
	}
	return g, nil
}

const groupPrefix = "dist-step-" // then our process's id

// removeStale removes what callers left that were killed. The kernel removes
// none that still has a process.
func removeStale(parent string) {
	found, err := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if pid, err := strconv.Atoi(id); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			os.Remove(dir)
		}
	}
}

func (g *cgroup) limit(l Limits) error {
	if l.Memory > 0 {
		if err := g.write("memory.max", strconv.FormatInt(l.Memory, 10)); err != nil {
			return err
		}
		if err := g.write("memory.oom.group", "1"); err != nil {
			return err
		}
		// Without swap the file is absent.
		if err := g.write("memory.swap.max", "0"); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if l.Processes > 0 {
		return g.write("pids.max", strconv.Itoa(l.Processes+taskRoom))
	}
	return nil
}

func (g *cgroup) fd() int { return int(g.file.Fd()) }

func (g *cgroup) write(name, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// value reads one number of a file with one, or of its line that starts with
// the key; 0 when it is not there.
func (g *cgroup) value(name, key string) int64 {
	data, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		text := lines.Text()
		if key != "" {
			rest, ok := strings.CutPrefix(text, key+" ")
			if !ok {
				continue
			}
			text = rest
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}

// refused reports whether a fork was refused. The step would try for ever.
func (g *cgroup) refused() bool { return g != nil && g.value("pids.events", "max") > 0 }

// look reads what the step uses.
func (g *cgroup) look(l Limits) usage {
	u := usage{
		memory: g.value("memory.current", ""),
		tasks:  int(g.value("pids.current", "")) - taskRoom,
		user:   time.Duration(g.value("cpu.stat", "user_usec")) * time.Microsecond,
		sys:    time.Duration(g.value("cpu.stat", "system_usec")) * time.Microsecond,
	}
	if l.Memory > 0 { // the kernel holds this one; page cache may fill it up to the limit
		u.memory = min(u.memory, l.Memory)
	}
	return u
}

// read puts into r what the kernel kept.
func (g *cgroup) read(r *Result) {
	r.PeakMemory = max(r.PeakMemory, g.value("memory.peak", ""))
	r.OOM = g.value("memory.events", "oom_kill") > 0
	u := g.look(Limits{})
	r.User, r.Sys = max(r.User, u.user), max(r.Sys, u.sys)
}

// remove ends what is left and removes the cgroup; nil has nothing to remove.
// An empty one that stays behind is harmless.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	g.write("cgroup.kill", "1") // absent before Linux 5.14; the end of process 1 ended all already
	g.file.Close()
	for range 100 {
		if err := os.Remove(g.dir); err == nil || os.IsNotExist(err) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
