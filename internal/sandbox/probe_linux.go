// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/run"
)

const probeLimit = 20 * time.Second

// Probe implements Runner: it runs true with the host's tools.
func (b Bubblewrap) Probe(ctx context.Context) error {
	program, err := b.program()
	if err != nil {
		return err
	}
	help, err := run.Command{Path: program, Args: []string{"--help"}, Env: []string{}, Timeout: probeLimit}.Run(ctx)
	if err != nil {
		return diagnose(b.Name(), "/", err)
	}
	for _, option := range []string{"--size", "--perms", "--clearenv", "--json-status-fd"} {
		if !bytes.Contains(append(help.Stdout, help.Stderr...), []byte(option)) {
			return &Unavailable{Way: b.Name(), Why: program + " does not know " + option, Do: "install bubblewrap 0.8.0 or newer"}
		}
	}
	return probe(ctx, b)
}

// Probe implements Runner: it runs true with the host's tools.
func (n Namespaces) Probe(ctx context.Context) error { return probe(ctx, n) }

func probe(ctx context.Context, r Runner) error {
	var said bytes.Buffer
	_, err := r.Run(ctx, Spec{
		Args:   []string{"true"},
		Env:    []string{"PATH=/usr/bin:/bin"},
		Limits: Limits{Wall: probeLimit},
		Stderr: &said, Stdout: &said,
	})
	var u *Unavailable
	if err == nil || errors.As(err, &u) || ctx.Err() != nil {
		return err
	}
	return diagnose(r.Name(), "/", err)
}

// diagnose says why namespaces do not work below root (the machine's, or a
// test's), as far as the machine shows.
func diagnose(way, root string, err error) error {
	u := &Unavailable{Way: way}
	setting := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(root, "proc/sys", name)) // absent: not a setting of this kernel
		return strings.TrimSpace(string(data))
	}
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(root, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case setting("user/max_user_namespaces") == "0":
		u.Why, u.Do = "this machine allows no user namespaces", "set the sysctl user.max_user_namespaces to 10000"
	case setting("kernel/unprivileged_userns_clone") == "0":
		u.Why, u.Do = "this machine allows user namespaces to root only", "set the sysctl kernel.unprivileged_userns_clone to 1"
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		u.Why = "AppArmor restricts user namespaces"
		u.Do = "set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0, or give the program an AppArmor profile with userns"
	case exists(".dockerenv") || exists("run/.containerenv"):
		u.Why = "this container may not make namespaces or mount /proc"
		u.Do = "start it with its seccomp and AppArmor filters off and /proc unmasked, or build outside of it"
	default:
		u.Why, u.Do = "the kernel refuses namespaces", "ask for user namespaces on this machine"
	}
	u.Why += fmt.Sprintf(" (%v)", err)
	u.Do += ", or use the dagger runner"
	return u
}
