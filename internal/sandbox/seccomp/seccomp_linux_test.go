// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package seccomp

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain becomes the program in its arguments behind the filter, as the
// step's wrapper in a container does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "behind" {
		runtime.LockOSThread()
		err := Install()
		if err == nil && os.Args[2] == "calls" {
			calls()
			os.Exit(0)
		}
		if err == nil {
			err = unix.Exec(os.Args[2], os.Args[2:], os.Environ())
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// calls prints the answer to calls that the filter knows.
func calls() {
	const junk = uintptr(1) << 32 // above the bits that the kernel reads
	for _, c := range []struct {
		name string
		call uintptr
		a, b uintptr
	}{
		{"inet", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM},
		{"inet with junk", unix.SYS_SOCKET, unix.AF_INET | junk, unix.SOCK_STREAM},
		{"unix with junk", unix.SYS_SOCKET, unix.AF_UNIX | junk, unix.SOCK_STREAM},
		{"netlink", unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW},
		{"unix", unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM},
		{"io_uring", unix.SYS_IO_URING_SETUP, 0, 0},
		{"clone3", unix.SYS_CLONE3, 0, 0},
		{"clone with namespace", unix.SYS_CLONE, unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD), 0},
		{"clone with namespace and junk", unix.SYS_CLONE, unix.CLONE_NEWNET | uintptr(unix.SIGCHLD) | junk, 0},
		{"unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0},
		{"mount", unix.SYS_MOUNT, 0, 0},
		{"ptrace", unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0},
		{"bpf", unix.SYS_BPF, 0, 0},
		{"keyctl", unix.SYS_KEYCTL, 0, 0},
	} {
		_, _, e := unix.RawSyscall6(c.call, c.a, c.b, 0, 0, 0, 0)
		fmt.Printf("%s: %s\n", c.name, unix.ErrnoName(e))
	}
}

const answers = `inet: EAFNOSUPPORT
inet with junk: EAFNOSUPPORT
unix with junk: EAFNOSUPPORT
netlink: EAFNOSUPPORT
unix: 
io_uring: ENOSYS
clone3: ENOSYS
clone with namespace: EPERM
clone with namespace and junk: EPERM
unshare: EPERM
mount: EPERM
ptrace: EPERM
bpf: EPERM
keyctl: EPERM
`

func behind(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, append([]string{"behind"}, args...)...).CombinedOutput()
	return string(out), err
}

func TestCallsAreRefused(t *testing.T) {
	got, err := behind(t, "calls")
	if err != nil || got != answers {
		t.Errorf("%v, got:\n%s\nwant:\n%s", err, got, answers)
	}
}

func TestFilterIsInherited(t *testing.T) {
	got, err := behind(t, "/bin/sh", "-c", "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status; /bin/sh -c 'echo runs'")
	if err != nil || got != "NoNewPrivs:\t1\nSeccomp:\t2\nruns\n" {
		t.Errorf("%v: %q", err, got)
	}
}

// A static program of 45 bytes of code that makes one call in the way of
// 32-bit programs: socketcall would pass a filter that only knows amd64.
func TestCallsOfAnotherArchitectureAreKilled(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the other architecture's program is for amd64")
	}
	program := t.TempDir() + "/int80"
	if err := os.WriteFile(program, int80(), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.Command(program).CombinedOutput(); err == nil || err.Error() != "exit status 7" {
		t.Fatalf("without the filter: %v", err)
	}
	if _, err := behind(t, program); err == nil || !strings.Contains(err.Error(), "bad system call") {
		t.Errorf("behind the filter: %v", err)
	}
}

// int80 is an ELF file for amd64 that calls exit(7) by int 0x80.
func int80() []byte {
	code := []byte{
		0xb8, 1, 0, 0, 0, // mov eax, 1 (exit of i386)
		0xbb, 7, 0, 0, 0, // mov ebx, 7
		0xcd, 0x80,
	}
	const base, header = 0x400000, 64 + 56
	b := make([]byte, header, header+len(code))
	copy(b, "\x7fELF\x02\x01\x01")
	put := func(at int, size int, v uint64) {
		for i := range size {
			b[at+i] = byte(v >> (8 * i))
		}
	}
	put(16, 2, 2)           // ET_EXEC
	put(18, 2, 62)          // EM_X86_64
	put(20, 4, 1)           // version
	put(24, 8, base+header) // entry
	put(32, 8, 64)          // program headers
	put(52, 2, 64)          // size of this header
	put(54, 2, 56)          // and of a program header
	put(56, 2, 1)           // of which there is one
	put(64, 4, 1)           // PT_LOAD
	put(68, 4, 5)           // read and run
	put(80, 8, base)        // at
	put(88, 8, base)
	put(96, 8, uint64(header+len(code)))
	put(104, 8, uint64(header+len(code)))
	put(112, 8, 0x1000)
	return append(b, code...)
}

func TestProgramIsTheKernelsArray(t *testing.T) {
	b, err := Program()
	if err != nil || len(b) == 0 || len(b)%8 != 0 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
