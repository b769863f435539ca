// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package child

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// A bond is what ties the program's process group to our life.
type bond struct {
	group int
	guard *exec.Cmd      // nil when there is no /bin/sh
	line  io.WriteCloser // the guard waits for its end
}

// guardScript waits for a line. A line means that the program ended as it
// should; the end of the pipe without one means that we are gone. (dash takes a
// group only after -s NAME --.)
const guardScript = `read -r word || kill -s KILL -- "-$1" 2>/dev/null`

// bind starts the guard. Without one, on a system with no shell, only the
// program itself is bound, and that only where prepare can do it.
func bind(p *os.Process) *bond {
	b := &bond{group: p.Pid}
	guard := exec.Command("/bin/sh", "-c", guardScript, "1bit-guard", strconv.Itoa(p.Pid))
	guard.Env = []string{}
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // out of reach of Ctrl-C
	line, err := guard.StdinPipe()
	if err == nil && guard.Start() == nil {
		b.guard, b.line = guard, line
	}
	return b
}

func (b *bond) terminate() { syscall.Kill(-b.group, syscall.SIGTERM) }

// kill ends what is left of the group. After the leader was reaped its number
// stays taken as long as the group has a member, so no stranger is hit.
func (b *bond) kill() { syscall.Kill(-b.group, syscall.SIGKILL) }

// release ends the guard.
func (b *bond) release() {
	if b.guard == nil {
		return
	}
	io.WriteString(b.line, "done\n")
	b.line.Close()
	b.guard.Wait()
}

func signalName(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
