// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package seccomp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	filter "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func errno(e unix.Errno) filter.Action { return filter.ActionErrno | filter.Action(e) }

// build assembles the filter for the architecture that this program is built for.
func build() ([]bpf.RawInstruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	known := func(names []string) (list []string) {
		for _, name := range names {
			if _, ok := info.SyscallNames[name]; ok {
				list = append(list, name)
			}
		}
		return list
	}
	when := func(name string, argument uint32, op filter.Operation, value uint64) filter.NameWithConditions {
		return filter.NameWithConditions{Name: name, Conditions: filter.ArgumentConditions{{Argument: argument, Operation: op, Value: value}}}
	}
	sockets := []filter.NameWithConditions{when("socket", 0, filter.NotEqual, unix.AF_UNIX), when("socketpair", 0, filter.NotEqual, unix.AF_UNIX)}
	namespaces := []filter.NameWithConditions{when("clone", 0, filter.BitsSet, namespaceFlags)}
	policy := filter.Policy{
		DefaultAction: filter.ActionAllow,
		Syscalls: []filter.SyscallGroup{
			{NamesWithCondtions: sockets, Action: errno(unix.EAFNOSUPPORT)},
			{NamesWithCondtions: namespaces, Action: errno(unix.EPERM)},
			{Names: known(absent), Action: errno(unix.ENOSYS)},
			{Names: known(refused), Action: errno(unix.EPERM)},
		},
	}
	list, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	// The library lets calls of another architecture run into the default
	// action, which allows: int 0x80 on amd64 would pass. They are killed.
	const archOffset = 4 // of seccomp_data, linux/seccomp.h
	list = append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(filter.ActionKillProcess)},
	}, list...)
	raw, err := bpf.Assemble(list)
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	return raw, nil
}

// Program returns the filter as the kernel's array of struct sock_filter, in
// this machine's byte order: what bwrap reads from its --seccomp descriptor.
func Program() ([]byte, error) {
	raw, err := build()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, in := range raw {
		// A buffer takes every write.
		binary.Write(&b, binary.NativeEndian, in.Op)
		b.Write([]byte{in.Jt, in.Jf})
		binary.Write(&b, binary.NativeEndian, in.K)
	}
	return b.Bytes(), nil
}

// Install sets no_new_privs and the filter on the calling thread and on what it
// starts or becomes. The caller holds the thread (runtime.LockOSThread) up to
// its fork or exec. It cannot be undone.
func Install() error {
	raw, err := build()
	if err != nil {
		return err
	}
	list := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		list[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("seccomp: no_new_privs: %w", err)
	}
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); e != 0 {
		return fmt.Errorf("seccomp: install the filter: %w", e)
	}
	return nil
}
