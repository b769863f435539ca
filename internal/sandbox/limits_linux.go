// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// limits are what a process sets on itself before it becomes the step; zero
// leaves a limit as it is.
type limits struct {
	Data      uint64 // bytes of private memory of a process
	FileSize  uint64 // bytes
	Tasks     uint64 // processes and threads of the user in this user namespace
	CPUs      int
	NoAddress bool // no randomised addresses
}

const noRandomAddresses = 0x0040000 // ADDR_NO_RANDOMIZE, linux/personality.h

func (l limits) set() error {
	if l.CPUs > 0 {
		if err := useCPUs(l.CPUs); err != nil {
			return fmt.Errorf("CPUs: %w", err)
		}
	}
	if l.NoAddress {
		if _, _, e := unix.Syscall(unix.SYS_PERSONALITY, noRandomAddresses, 0, 0); e != 0 {
			return fmt.Errorf("personality: %w", e)
		}
	}
	for _, r := range []struct {
		name     string
		resource int
		soft     uint64
		hard     bool // bound the hard limit too
		set      bool
	}{
		{"core files", unix.RLIMIT_CORE, 0, true, true},
		{"open files", unix.RLIMIT_NOFILE, 1024, false, true}, // what a login has
		{"stack", unix.RLIMIT_STACK, 8 << 20, false, true},
		{"memory", unix.RLIMIT_DATA, l.Data, true, l.Data > 0},
		{"file size", unix.RLIMIT_FSIZE, l.FileSize, true, l.FileSize > 0},
		{"processes", unix.RLIMIT_NPROC, l.Tasks, true, l.Tasks > 0},
	} {
		if !r.set {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(r.resource, &now); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		now.Cur = min(r.soft, now.Max)
		if r.hard {
			now.Max = now.Cur
		}
		if err := unix.Setrlimit(r.resource, &now); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// useCPUs keeps the first n CPUs of those that the thread may use.
func useCPUs(n int) error {
	var have, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &have); err != nil {
		return err
	}
	for i := 0; n > 0 && i < len(have)*64; i++ {
		if have.IsSet(i) {
			want.Set(i)
			n--
		}
	}
	return unix.SchedSetaffinity(0, &want)
}

// dropAll gives up every capability of this thread, for good: of what it has
// and of what a program that it starts could get.
func dropAll() error {
	if err := dropBounding(); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// dropBounding gives up what a program that this thread starts could get.
func dropBounding() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for c := uintptr(0); c < 64; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // beyond the last one that this kernel knows
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lookPath finds a program as execvp would, in the PATH of env.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	search := "/bin:/usr/bin"
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			search = value
		}
	}
	for _, folder := range filepath.SplitList(search) {
		file := filepath.Join(folder, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("not found in %s", search)
}
