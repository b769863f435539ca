// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/1bit-MONSTER/engine/internal/sandbox/seccomp"
)

// Probe reports whether a process here can become a step behind the filter. It
// installs the filter, so nothing but the end of the process may follow.
func (w Wrapped) Probe() error {
	runtime.LockOSThread()
	if err := seccomp.Install(); err != nil {
		return &WrapError{StageFilter, err}
	}
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); !errors.Is(err, unix.EAFNOSUPPORT) {
		unix.Close(fd)
		return &WrapError{StageFilter, fmt.Errorf("a socket was not refused (%v)", err)}
	}
	return nil
}

// Become makes this process the step, whose stderr is stdout: one stream keeps
// the order of what is printed. It returns only where it could not; the error
// is a *WrapError.
func (w Wrapped) Become() error {
	runtime.LockOSThread() // capabilities and filter are the thread's
	if os.Getuid() != 0 {
		return &WrapError{"user", errNotRoot}
	}
	if err := unix.Dup2(1, 2); err != nil {
		return &WrapError{"descriptors", err}
	}
	unix.Umask(umask)
	for _, dir := range w.Own {
		if err := own(dir); err != nil {
			return &WrapError{"folder", err}
		}
	}
	if err := closeFrom(3); err != nil {
		return &WrapError{"descriptors", err}
	}
	if err := w.limits(); err != nil {
		return &WrapError{"limits", err}
	}
	env := Spec{Env: w.environment()}.env(w.Work)
	if err := becomeUser(); err != nil {
		return &WrapError{"user", err}
	}
	if err := os.Chdir(w.Work); err != nil {
		return &WrapError{"work folder", err}
	}
	program, err := lookPath(w.Args[0], env)
	if err != nil {
		return &WrapError{w.Args[0], err}
	}
	// The filter is last: it takes away what the rest needs. Without it, what
	// it also sets is set all the same.
	if w.Open {
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	} else {
		err = seccomp.Install()
	}
	if err != nil {
		return &WrapError{StageFilter, err}
	}
	return &WrapError{w.Args[0], unix.Exec(program, w.Args, env)}
}

// limits are those of a step that need nobody who watches. Fixed addresses are
// tried: a container's own filter may refuse them.
func (w Wrapped) limits() error {
	unix.Syscall(unix.SYS_PERSONALITY, noRandomAddresses, 0, 0)
	return limits{CPUs: w.CPUs}.set()
}

// environment is Env with MAKEFLAGS.
func (w Wrapped) environment() []string {
	if !w.Jobs || slices.ContainsFunc(w.Env, func(e string) bool { return strings.HasPrefix(e, "MAKEFLAGS=") }) {
		return w.Env
	}
	n := w.CPUs
	if n == 0 {
		n = runtime.NumCPU()
	}
	return append(slices.Clone(w.Env), fmt.Sprintf("MAKEFLAGS=-j%d", n))
}

func own(dir string) error {
	if err := os.Chown(dir, User, User); err != nil {
		return err
	}
	if dir == Home {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// becomeUser gives up root, for good.
func becomeUser() error {
	if err := dropBounding(); err != nil {
		return err
	}
	return errors.Join(unix.Setgroups(nil), unix.Setresgid(User, User, User), unix.Setresuid(User, User, User))
}
