// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/1bit-MONSTER/engine/internal/sandbox/seccomp"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// hostile is this test's program as a step: it prints what it was allowed to
// do and should not have been.
func hostile(what string, args []string) int {
	allowed := func(name string, err error) {
		if err == nil {
			fmt.Println("ALLOWED", name)
		}
	}
	switch what {
	case "network":
		_, err := net.DialTimeout("tcp", args[0], time.Second)
		allowed("tcp", err)
		_, err = net.LookupHost("example.org")
		allowed("dns", err)
		for name, s := range map[string][3]int{
			"inet": {unix.AF_INET, unix.SOCK_DGRAM, 0}, "inet6": {unix.AF_INET6, unix.SOCK_STREAM, 0}, "raw": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
			"netlink": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, "packet": {unix.AF_PACKET, unix.SOCK_RAW, 0}, "vsock": {unix.AF_VSOCK, unix.SOCK_STREAM, 0}, "alg": {unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		} {
			_, err := unix.Socket(s[0], s[1], s[2])
			allowed(name, err)
		}
		_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		if e != unix.ENOSYS {
			fmt.Println("ALLOWED io_uring", e)
		}
		if _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
			fmt.Println("REFUSED unix", err)
		}
		_, err = net.Dial("unix", "@"+args[1])
		allowed("abstract socket of the host", err)
	case "privileges":
		runtime.LockOSThread()
		allowed("setuid", rawError(unix.SYS_SETUID, 0))
		allowed("setgid", rawError(unix.SYS_SETGID, 0))
		for name, flag := range map[string]int{"user": unix.CLONE_NEWUSER, "mount": unix.CLONE_NEWNS, "net": unix.CLONE_NEWNET, "pid": unix.CLONE_NEWPID} {
			allowed("unshare "+name, unix.Unshare(flag))
			cmd := exec.Command("/bin/true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: uintptr(flag)}
			allowed("clone "+name, cmd.Run())
		}
		allowed("mount", unix.Mount("none", "/tmp", "tmpfs", 0, ""))
		allowed("umount", unix.Unmount("/proc", unix.MNT_DETACH))
		allowed("remount", unix.Mount("", "/in", "", unix.MS_BIND|unix.MS_REMOUNT, ""))
		allowed("chroot", unix.Chroot("/tmp"))
		allowed("ptrace init", unix.PtraceAttach(1))
		allowed("hostname", unix.Sethostname([]byte("x")))
		allowed("mknod", unix.Mknod("/tmp/node", unix.S_IFBLK|0o666, int(unix.Mkdev(259, 0))))
		allowed("core_pattern", openWrite("/proc/sys/kernel/core_pattern"))
		allowed("sysrq", openWrite("/proc/sysrq-trigger"))
		allowed("keyctl", rawError(unix.SYS_KEYCTL, 0, ^uintptr(2), 0)) // KEYCTL_GET_KEYRING_ID of the session
		allowed("bpf", rawError(unix.SYS_BPF, 0))
		allowed("perf", rawError(unix.SYS_PERF_EVENT_OPEN, 0, 0, ^uintptr(0), ^uintptr(0), 0))
		if env, err := os.ReadFile("/proc/1/environ"); err == nil && len(env) > 0 {
			fmt.Printf("ALLOWED init's environment %q\n", env)
		}
		if args[0] == "namespaces" { // see New
			allowed("write init's memory", openWrite("/proc/1/mem"))
			allowed("chmod /dev/null", os.Chmod("/dev/null", 0o666))
		}
	case "files":
		for _, f := range args {
			_, err := os.ReadFile(f)
			allowed("read "+f, err)
			_, err = os.ReadDir(f)
			allowed("list "+f, err)
		}
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			if pid, err := strconv.Atoi(e.Name()); err == nil && pid != 1 && pid != os.Getpid() {
				if self, _ := os.ReadFile("/proc/" + e.Name() + "/comm"); string(self) != "bwrap\n" {
					fmt.Println("ALLOWED process", pid)
				}
			}
		}
		for _, f := range []string{"/new", "/in/new", "/in/input", "/usr/new", "/etc/passwd", "/etc/new", "/dev/new", "/hostile", "/home/new", "/sys/new", "/run/new"} {
			allowed("write "+f, openWrite(f))
		}
		for _, f := range []string{"/tmp/ok", Home + "/ok", "/dev/shm/ok", "/out/ok", "/dev/null"} {
			if err := openWrite(f); err != nil {
				fmt.Println("REFUSED", err)
			}
		}
		allowed("chmod an input", os.Chmod("/in/input", 0o777))
		allowed("remove an input", os.Remove("/in/input"))
		allowed("leave the output", func() error { _, err := os.Stat("/out/../in/../../etc/shadow"); return err }())
	case "memory":
		var held [][]byte
		for {
			held = append(held, touch(16<<20))
			runtime.KeepAlive(held)
		}
	case "work":
		b := touch(200 << 20)
		for used := (unix.Rusage{}); used.Utime.Nano()+used.Stime.Nano() < int64(400*time.Millisecond); {
			unix.Getrusage(unix.RUSAGE_SELF, &used)
		}
		runtime.KeepAlive(b)
	case "forks":
		for {
			exec.Command("/bin/sleep", "1000").Start()
		}
	case "print":
		line := bytes.Repeat([]byte("x"), 1<<16)
		for i := 0; i < 1<<14; i++ {
			if _, err := os.Stdout.Write(line); err != nil {
				return 1
			}
		}
	case "fill":
		block := bytes.Repeat([]byte("x"), 1<<20)
		for i := 0; ; i++ {
			if err := os.WriteFile(filepath.Join(args[0], strconv.Itoa(i)), block, 0o666); err != nil {
				fmt.Println(err)
				return 1
			}
		}
	case "burn":
		for n := uint64(1); n != 0; n += 2 {
			runtime.KeepAlive(n)
		}
	case "unavailable": // a machine that refuses namespaces, as our own filter does
		runtime.LockOSThread()
		if err := seccomp.Install(); err != nil {
			fmt.Println(err)
			return 1
		}
		r, err := New(context.Background())
		var u *Unavailable
		fmt.Println(r, errors.As(err, &u), verdict.Of(err), err)
		_, err = Namespaces{}.Run(context.Background(), Spec{Args: []string{"true"}, Env: env})
		fmt.Println(errors.As(err, &u))
		_, err = Plain{}.Run(context.Background(), Spec{Args: []string{"true"}, Env: env})
		fmt.Println(err)
	case "run": // a runner inside of a runner's caller: to be killed from outside
		var r Runner = Namespaces{}
		switch args[0] {
		case "bwrap":
			r = Bubblewrap{}
		case "none":
			r = Plain{}
		}
		r.Run(context.Background(), Spec{Args: []string{"sh", "-c", args[1]}, Env: env, Stdout: os.Stdout})
	default:
		return 2
	}
	return 0
}

func touch(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}

func openWrite(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		f.Close()
	}
	return err
}

func rawError(call uintptr, args ...uintptr) error {
	args = append(args, make([]uintptr, 6)...)
	if _, _, e := unix.RawSyscall6(call, args[0], args[1], args[2], args[3], args[4], args[5]); e != 0 {
		return e
	}
	return nil
}

// clean runs a hostile step to its end and fails for every thing it could do.
func clean(t *testing.T, r Runner, s *trial) {
	t.Helper()
	if got := s.must(t, r); got != "" {
		t.Error(got)
	}
}

func TestNetworkIsRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	name := fmt.Sprintf("sandbox-test-%d", os.Getpid())
	abstract, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	t.Run("ways", func(t *testing.T) {
		sandboxes(t, func(t *testing.T, r Runner) {
			clean(t, r, try(t, "/hostile", "hostile", "network", listener.Addr().String(), name))
		})
	})
}

func TestPrivilegesAreRefused(t *testing.T) {
	before, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ways", func(t *testing.T) {
		sandboxes(t, func(t *testing.T, r Runner) { clean(t, r, try(t, "/hostile", "hostile", "privileges", r.Name())) })
	})
	if after, err := os.Stat(os.DevNull); err != nil || after.Mode() != before.Mode() {
		t.Errorf("%s is %v now, %v", os.DevNull, after.Mode(), err)
	}
}

func TestHostIsHidden(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Run("ways", func(t *testing.T) {
		sandboxes(t, func(t *testing.T, r Runner) {
			s := try(t, "/hostile", "hostile", "files", secret, "/etc/shadow", "/root", "/etc/ssh", "/var", "/proc/1/root/root", fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/old", "/data")
			clean(t, r, s)
			if b, err := os.ReadFile(filepath.Join(s.In, "input")); err != nil || string(b) != "original" {
				t.Errorf("the input is %q, %v", b, err)
			}
		})
	})
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limit  string
		args   []string
		set    func(*Spec)
		inside bool // only where there is a sandbox
	}{
		{LimitWall, []string{"sh", "-c", "trap '' TERM INT HUP; while :; do sleep 5; done"}, func(s *Spec) { s.Limits.Wall = 200 * time.Millisecond }, false},
		{LimitCPU, []string{"/hostile", "hostile", "burn"}, func(s *Spec) { s.Limits.CPU = 200 * time.Millisecond }, false},
		{LimitMemory, []string{"/hostile", "hostile", "memory"}, func(s *Spec) { s.Limits.Memory = 256 << 20 }, false},
		{LimitProcesses, []string{"/hostile", "hostile", "forks"}, func(s *Spec) { s.Limits.Processes = 40 }, false},
		{LimitProcesses, []string{"sh", "-c", "(f() { sleep 1000 & f & f; }; f); exec sleep 1000"}, func(s *Spec) { s.Limits.Processes = 40 }, true},
		{LimitOutput, []string{"/hostile", "hostile", "print"}, func(s *Spec) { s.Limits.Output = 1 << 20 }, false},
		{LimitDisk, []string{"/hostile", "hostile", "fill", "/out"}, func(s *Spec) { s.Limits.Disk = 8 << 20 }, true},
		{LimitDisk, []string{"dd", "if=/dev/zero", "of=/out/big", "bs=1M", "count=9"}, func(s *Spec) { s.Limits.Disk = 8 << 20 }, true},
		{LimitFileSize, []string{"dd", "if=/dev/zero", "of=big", "bs=1M"}, func(s *Spec) { s.Limits.FileSize = 1 << 20 }, false},
	} {
		t.Run(c.limit, func(t *testing.T) {
			t.Parallel()
			ways := everyWay
			if c.inside {
				ways = sandboxes
			}
			ways(t, func(t *testing.T, r Runner) {
				if c.limit == LimitProcesses {
					bounded(t, r)
				}
				s := try(t, slices.Clone(c.args)...)
				c.set(&s.Spec)
				got, err := s.run(t, r)
				var over *Exceeded
				if !errors.As(err, &over) || over.Limit != c.limit || got.Exceeded != over || over.Value == "" || got.OOM != (c.limit == LimitMemory) {
					t.Fatalf("%+v, %v\n%.400s", got, err, &s.said)
				}
				if c.limit == LimitOutput && (int64(s.said.Len()) != s.Limits.Output || got.Printed != s.Limits.Output) {
					t.Errorf("%d bytes were printed, %d said", s.said.Len(), got.Printed)
				}
			})
		})
	}
}

// bounded ends the test where only looking stands between a fork bomb and the
// machine: as root without a cgroup.
func bounded(t *testing.T, r Runner) {
	t.Helper()
	got, err := r.Run(t.Context(), Spec{Args: []string{"true"}, Env: env, Limits: Limits{Processes: 40}})
	if err != nil {
		t.Fatal(err)
	}
	if got.ProcessesBy == ByPolling {
		t.Skip("no fork bomb: the kernel does not bound processes here")
	}
}

func TestNamespacesRefused(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got := output(t, program, "hostile", "unavailable")
	if !strings.HasPrefix(got, "<nil> true infra sandbox by namespaces: ") || !strings.Contains(got, "\nsandbox by bwrap: ") || !strings.HasSuffix(got, "\ntrue\n<nil>\n") {
		t.Error(got)
	}
}

func TestTmpIsBounded(t *testing.T) {
	sandboxes(t, func(t *testing.T, r Runner) {
		for _, dir := range []string{"/tmp", Home, "/dev/shm"} {
			s := try(t, "/hostile", "hostile", "fill", dir)
			s.Tmp = 4 << 20
			var exit *ExitError
			if _, err := s.run(t, r); !errors.As(err, &exit) || !strings.Contains(s.said.String(), "no space left") {
				t.Errorf("%s: %v, %s", dir, err, &s.said)
			}
		}
	})
}

// marked counts the processes with a word in their command line.
func marked(t *testing.T, word string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.HasPrefix(b, []byte("sleep\x00"+word)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// number makes a word for sleep that no other test uses.
func number(t *testing.T) string {
	h := uint32(os.Getpid())
	for _, c := range t.Name() {
		h = h*31 + uint32(c)
	}
	return fmt.Sprint(100000000 + h)
}

const daemon = "(setsid sh -c '(sleep %[1]s </dev/null >/dev/null 2>&1 & sleep %[1]s & trap \"\" TERM; wait)' &) ; "

func TestNoDaemonSurvives(t *testing.T) {
	everyWay(t, func(t *testing.T, r Runner) {
		word := number(t)
		s := sh(t, fmt.Sprintf(daemon, word)+"while ! grep -qs "+word+" /proc/[0-9]*/cmdline; do :; done; sleep 0.1")
		s.must(t, r)
		if left := marked(t, word); len(left) > 0 {
			t.Errorf("left running: %v", left)
			for _, p := range left {
				syscall.Kill(p, syscall.SIGKILL)
			}
		}
	})
}

func TestKilledCallerLeavesNothing(t *testing.T) {
	everyWay(t, func(t *testing.T, r Runner) {
		word := number(t)
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "hostile", "run", r.Name(), fmt.Sprintf(daemon, word)+"echo up; sleep "+word)
		up, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line := make([]byte, 3); true {
			if _, err := up.Read(line); err != nil || string(line) != "up\n" {
				t.Errorf("it says %q, %v", line, err)
			}
		}
		for range 500 {
			if len(marked(t, word)) >= 3 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := len(marked(t, word)); n < 3 {
			t.Errorf("%d processes run", n)
		}
		cmd.Process.Kill()
		cmd.Wait()
		for range 500 {
			if len(marked(t, word)) == 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		for _, p := range marked(t, word) {
			t.Errorf("process %d is left", p)
			syscall.Kill(p, syscall.SIGKILL)
		}
	})
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	b, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(b)
}
