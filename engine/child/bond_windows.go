// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// prepare keeps our console's Ctrl-C from the program: we end it ourselves.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// A bond is a job object that ends all its processes when its last handle, the
// one that we hold, is closed: also by the system, when we end in any way.
type bond struct {
	process *os.Process

	mu  sync.Mutex
	job windows.Handle // 0 when the system gave none
}

func bind(p *os.Process) *bond {
	b := &bond{process: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return b
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, p)
	}
	if err != nil {
		windows.CloseHandle(job)
		return b
	}
	b.job = job
	return b
}

func assign(job windows.Handle, p *os.Process) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// terminate ends the program at once: Windows has no signal that asks.
func (b *bond) terminate() { b.kill() }

func (b *bond) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.job != 0 {
		windows.TerminateJobObject(b.job, 1)
		return
	}
	b.process.Kill()
}

func (b *bond) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.job != 0 {
		windows.CloseHandle(b.job)
		b.job = 0
	}
}

func signalName(*os.ProcessState) string { return "" }
