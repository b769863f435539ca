// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Command tool is the toolchain of the tests with an engine: a static program
// that looks around, writes, fails, waits and tries the network.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	var err error
	switch args := os.Args[2:]; os.Args[1] {
	case "look":
		err = look(args[0], args[1])
	case "write":
		err = write(args[0])
	case "print":
		n, _ := strconv.Atoi(args[0])
		for i := range n {
			fmt.Println("line", i)
			if n == 1 { // two streams at once have no order
				fmt.Fprintln(os.Stderr, "error", i)
			}
		}
		code, _ := strconv.Atoi(args[1])
		os.Exit(code)
	case "die":
		err = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "time":
		fmt.Println(time.Now().UnixNano())
		os.Exit(1)
	case "sleep":
		d, _ := time.ParseDuration(args[0])
		fmt.Println("asleep")
		time.Sleep(d)
	case "network":
		network()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
}

// look writes down what a step sees.
func look(dir, to string) error {
	var b strings.Builder
	wd, _ := os.Getwd()
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	env := os.Environ()
	slices.Sort(env)
	env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, "MAKEFLAGS=") })
	fmt.Fprintf(&b, "uid %d gid %d in %s umask %o\nenv %q\nargs %q\n", os.Getuid(), os.Getgid(), wd, mask, env, os.Args)
	for _, d := range []string{"/tmp", os.Getenv("HOME"), "/build", "/out", "/dev/shm"} {
		err := os.WriteFile(filepath.Join(d, "made"), nil, 0o600)
		os.Remove(filepath.Join(d, "made"))
		entries, _ := os.ReadDir(d)
		fmt.Fprintf(&b, "%s: write %v, %d entries\n", d, err, len(entries))
	}
	for _, d := range []string{"/", "/etc", "/bin", dir} {
		err := os.WriteFile(filepath.Join(d, "made"), nil, 0o600)
		fmt.Fprintf(&b, "%s: can be written: %v\n", d, err == nil)
	}
	passwd, _ := os.ReadFile("/etc/passwd")
	fmt.Fprintf(&b, "%s", passwd)
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		when, target := info.ModTime().UnixNano(), ""
		if info.Mode()&fs.ModeSymlink != 0 { // an upload cannot keep the time of a link
			when = 0
			target, _ = os.Readlink(p)
		}
		data := []byte(nil)
		if info.Mode().IsRegular() {
			data, err = os.ReadFile(p)
		}
		fmt.Fprintf(&b, "%s %v %d %q %q\n", p, info.Mode(), when, target, data)
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(to, []byte(b.String()), 0o644)
}

// write makes files of all kinds that an output may have.
func write(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "sub", "empty"), 0o755); err != nil {
		return err
	}
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "program": 0o755, "private": 0o600, "sub/file": 0o444} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), mode); err != nil {
			return err
		}
	}
	if err := os.Link(filepath.Join(dir, "plain"), filepath.Join(dir, "sub", "hard")); err != nil {
		return err
	}
	return os.Symlink("../plain", filepath.Join(dir, "sub", "link"))
}

// network tries what leads out, also from a child, and ends with 0 only when
// something does.
func network() {
	if os.Getenv("CHILD") == "" {
		cmd := exec.Command("/proc/self/exe", "network")
		cmd.Env = []string{"CHILD=1"}
		cmd.Stdout = os.Stdout
		if cmd.Run() == nil {
			os.Exit(0)
		}
	}
	reached := false
	for _, family := range []int{syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK, syscall.AF_PACKET, 40 /* AF_VSOCK */} {
		fd, err := syscall.Socket(family, syscall.SOCK_DGRAM, 0)
		fmt.Println("family", family, err)
		if err == nil {
			reached = true
			syscall.Close(fd)
		}
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	fmt.Println("unix", err)
	syscall.Close(fd)
	_, _, e := syscall.Syscall(425 /* io_uring_setup */, 1, 0, 0)
	fmt.Println("io_uring", e)
	if e != syscall.ENOSYS || reached {
		os.Exit(0)
	}
	os.Exit(9)
}
