// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/1bit-MONSTER/engine/internal/sandbox/seccomp"
)

// Descriptors of bwrap; files with data follow.
const (
	statusFD  = 3
	filterFD  = 4
	argsFD    = 5
	firstData = 6
)

// Run implements Runner.
func (b Bubblewrap) Run(ctx context.Context, s Spec) (Result, error) {
	r := Result{Way: b.Name(), Sandboxed: true, Code: -1}
	if err := s.Validate(); err != nil {
		return r, err
	}
	program, err := b.program()
	if err != nil {
		return r, err
	}
	mounts, err := plan(s)
	if err != nil {
		return r, err
	}
	args, data := bwrapArgs(s, mounts)
	filter, err := seccomp.Program()
	if err != nil {
		return r, &Unavailable{Way: b.Name(), Why: err.Error(), Do: "build on amd64 or arm64"}
	}
	o := order{
		Args:   append([]string{program, "--args", fmt.Sprint(argsFD), "--"}, s.Args...),
		Work:   "/",
		Limits: s.limits(),
	}
	o.Limits.NoAddress = true

	status, giveStatus, err := os.Pipe()
	if err != nil {
		return r, err
	}
	defer status.Close()
	files := []*os.File{giveStatus}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, content := range append([]string{string(filter), strings.Join(args, "\x00") + "\x00"}, data...) {
		f, err := memoryFile(content)
		if err != nil {
			return r, err
		}
		files = append(files, f)
	}
	said := &tail{}
	j := &job{spec: s, result: r, stderr: said}
	j.program = func(r *Result) error { return bwrapEnd(status, said, r) }
	return runInit(ctx, o, j, &syscall.SysProcAttr{}, files...)
}

// bwrapEnd reads what bwrap said at the end: the exit code, which is absent
// when the step's program was not started.
func bwrapEnd(status io.Reader, said *tail, r *Result) error {
	for d := json.NewDecoder(status); ; {
		var line struct {
			Exit *int `json:"exit-code"`
		}
		if d.Decode(&line) != nil {
			break
		}
		if line.Exit != nil {
			return nil
		}
	}
	if r.Code > 128 { // killed, by us or from outside
		return nil
	}
	why := said.last("bwrap: ")
	what, reason, found := strings.Cut(strings.TrimPrefix(why, "execvp "), ": ")
	r.Code = -1
	if !strings.HasPrefix(why, "execvp ") || !found {
		what, reason = "bwrap", why
	}
	return &NotStarted{What: what, Why: reason}
}

// program finds bwrap.
func (b Bubblewrap) program() (string, error) {
	name := b.Path
	if name == "" {
		name = "bwrap"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &Unavailable{Way: b.Name(), Why: "there is no program " + name, Do: "install the package bubblewrap"}
	}
	return path, nil
}

// bwrapArgs writes s and its mounts as bwrap's arguments; data are the
// contents of the descriptors from firstData on.
func bwrapArgs(s Spec, mounts []mount) (args, data []string) {
	add := func(words ...string) { args = append(args, words...) }
	add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--uid", fmt.Sprint(User), "--gid", fmt.Sprint(User), "--hostname", Hostname,
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--json-status-fd", fmt.Sprint(statusFD), "--seccomp", fmt.Sprint(filterFD), "--clearenv")
	for _, e := range s.env(s.work()) {
		name, value, _ := strings.Cut(e, "=")
		add("--setenv", name, value)
	}
	for _, m := range mounts {
		switch m.Kind {
		case kindFolder:
			add("--dir", m.To)
		case kindSymlink:
			add("--symlink", m.From, m.To)
		case kindTmpfs:
			add("--perms", fmt.Sprintf("%04o", m.Mode), "--size", fmt.Sprint(m.Size), "--tmpfs", m.To)
		case kindProc:
			add("--proc", m.To)
		case kindReadOnly:
			add("--remount-ro", m.To)
		case kindDevice:
			add("--dev-bind", m.From, m.To) // bwrap can make a node read-only or usable, not both
		case kindData:
			add("--perms", "0444", "--ro-bind-data", fmt.Sprint(firstData+len(data)), m.To)
			data = append(data, m.Data)
		case kindBind:
			if m.Writable {
				add("--bind", m.From, m.To)
			} else {
				add("--ro-bind", m.From, m.To)
			}
		}
	}
	add("--chdir", s.work())
	return args, data
}

// memoryFile is a file that holds text and lies in no folder.
func memoryFile(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("dist-sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("sandbox: memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "dist-sandbox")
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("sandbox: memfd: %w", err)
	}
	return f, nil
}
