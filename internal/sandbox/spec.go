// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What every step sees, on every machine.
const (
	User     = 1000 // user and group id inside
	Hostname = "build"
	Home     = "/home/build" // private, empty, as /tmp and /dev/shm
	umask    = 0o022
)

// A Spec is one step: what it runs and all that it sees.
type Spec struct {
	// Root is a folder with the toolchain's root file system. Its top folders
	// are seen read-only; its dev, proc, sys, tmp, home, root and run are not.
	// Empty means the host's tools: /usr, /bin, /sbin, /lib*, and of /etc what
	// finding programs and libraries needs.
	Root string
	// Binds are the inputs and the output folder.
	Binds []Bind
	// Work is the folder inside in which the step starts; / when empty.
	Work string
	// Args is the program, looked up in Env's PATH when it has no slash, and
	// its arguments.
	Args []string
	// Env is the whole environment; PWD is added. Stdin is empty.
	Env []string
	// Stdout and Stderr get what the step prints, as it comes; nil discards.
	// They may be the same writer, which then gets one write at a time.
	Stdout, Stderr io.Writer
	Limits         Limits
	// Tmp is the size in bytes of each of /tmp, Home and /dev/shm; 0 means 2 GiB.
	Tmp int64
	// CPUs is the number of CPUs that the step may use and count; 0 means all.
	CPUs int
}

// A Bind shows a file or folder of the host inside. Below a toolchain's folder
// or a read-only bind its place must exist; below a writable bind it is made,
// and stays there, empty, after the step.
type Bind struct {
	From     string // absolute, on the host
	To       string // absolute and clean, inside
	Writable bool
}

// Limits of a step; zero means none.
type Limits struct {
	Wall      time.Duration
	CPU       time.Duration // user and system time of all its processes
	Memory    int64         // bytes, resident, of all its processes
	Processes int           // at one time
	FileSize  int64         // bytes of one file
	Disk      int64         // bytes in the writable binds together
	Output    int64         // bytes printed, stdout and stderr together
}

// Validate returns every mistake in s at once.
func (s Spec) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("sandbox: "+format, args...)) }
	if len(s.Args) == 0 || s.Args[0] == "" {
		wrong("no program to run")
	}
	if s.Root != "" && !filepath.IsAbs(s.Root) {
		wrong("root %s: not absolute", s.Root)
	}
	if s.Work != "" && !cleanAbs(s.Work) {
		wrong("work folder %s: not absolute and clean", s.Work)
	}
	seen := map[string]bool{}
	for _, b := range s.Binds {
		switch {
		case !filepath.IsAbs(b.From):
			wrong("bind %s: its source %q is not absolute", b.To, b.From)
		case !cleanAbs(b.To) || b.To == "/":
			wrong("bind %q: not absolute and clean, or the root itself", b.To)
		case slices.ContainsFunc([]string{"/proc", "/dev", "/sys"}, func(p string) bool { return within(b.To, p) }):
			wrong("bind %s: /proc, /dev and /sys are the sandbox's own", b.To)
		case seen[b.To]:
			wrong("bind %s: given twice", b.To)
		}
		seen[b.To] = true
	}
	for _, words := range [][]string{s.Args, s.Env} {
		for _, w := range words {
			if strings.ContainsRune(w, 0) {
				wrong("%q holds a NUL byte", w)
			}
		}
	}
	for _, e := range s.Env {
		if i := strings.IndexByte(e, '='); i < 1 {
			wrong("environment entry %q is not NAME=value", e)
		}
	}
	l := s.Limits
	if l.Wall < 0 || l.CPU < 0 || l.Memory < 0 || l.Processes < 0 || l.FileSize < 0 || l.Disk < 0 || l.Output < 0 || s.Tmp < 0 || s.CPUs < 0 {
		wrong("a limit is negative")
	}
	return errors.Join(errs...)
}

// Outside returns the host's name of a path inside, when a bind shows it. For
// Plain, which shows nothing: its caller puts these names into Args and Env.
func (s Spec) Outside(inside string) (string, bool) {
	best, found := Bind{}, false
	for _, b := range s.Binds {
		if within(inside, b.To) && len(b.To) > len(best.To) {
			best, found = b, true
		}
	}
	if !found {
		return "", false
	}
	return filepath.Join(best.From, strings.TrimPrefix(inside, best.To)), true
}

func (s Spec) work() string {
	if s.Work == "" {
		return "/"
	}
	return s.Work
}

func (s Spec) tmp() int64 {
	if s.Tmp == 0 {
		return 2 << 30
	}
	return s.Tmp
}

// env is Env with PWD, the last entry of a name winning.
func (s Spec) env(work string) []string {
	var list []string
	for i, e := range s.Env {
		name, _, _ := strings.Cut(e, "=")
		later := slices.ContainsFunc(s.Env[i+1:], func(o string) bool { return strings.HasPrefix(o, name+"=") })
		if name != "PWD" && !later {
			list = append(list, e)
		}
	}
	return append(list, "PWD="+work)
}

func cleanAbs(p string) bool { return path.IsAbs(p) && path.Clean(p) == p }

func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }
