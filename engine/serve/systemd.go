// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"time"
)

// systemVariables are what systemd tells a service in its environment; no
// child of ours gets them.
var systemVariables = []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}

// firstSocket is the number of the first file that systemd passes.
const firstSocket = 3

// A System is what the service manager gave us, in the protocol of systemd: a
// socket to listen on, and one to say how we are. The zero value is none.
// See sd_listen_fds(3) and sd_notify(3).
type System struct {
	Sockets  int           // that were passed
	Address  string        // of the socket for notes; empty: none
	Watchdog time.Duration // how often it must hear from us; 0: never
}

// FromEnvironment reads what lookup, as os.LookupEnv, has for the process pid.
func FromEnvironment(lookup func(string) (string, bool), pid int) System {
	number := func(name string) int {
		v, _ := lookup(name)
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	var s System
	if number("LISTEN_PID") == pid {
		s.Sockets = number("LISTEN_FDS")
	}
	s.Address, _ = lookup("NOTIFY_SOCKET")
	if p := number("WATCHDOG_PID"); p == 0 || p == pid {
		// What does not fit is no interval that anybody waits for.
		if usec := number("WATCHDOG_USEC"); int64(usec) <= math.MaxInt64/int64(time.Microsecond) {
			s.Watchdog = time.Duration(usec) * time.Microsecond
		}
	}
	return s
}

// listener returns the socket that was passed, or nil.
func (s System) listener() (net.Listener, error) {
	switch {
	case s.Sockets == 0:
		return nil, nil
	case s.Sockets > 1:
		return nil, fmt.Errorf("the service manager passed %d sockets; give the unit one ListenStream", s.Sockets)
	}
	f := os.NewFile(firstSocket, "passed socket")
	defer f.Close() // FileListener has its own copy
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("the socket that the service manager passed can not be used: %s", cause(err))
	}
	return l, nil
}

// notifyLimit is how long a manager may take to have room for a note.
const notifyLimit = time.Second

// Notify sends lines such as READY=1. A manager that can not be reached, or
// does not read, is no error: we serve all the same.
func (s System) Notify(state string) {
	if s.Address == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.Address, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	c.SetWriteDeadline(time.Now().Add(notifyLimit))
	c.Write([]byte(state))
}

// watch tells the manager twice in each of its intervals that we are alive,
// until ctx ends or the returned function is called.
func (s System) watch(ctx context.Context) func() {
	if s.Watchdog == 0 {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(max(s.Watchdog/2, time.Millisecond))
		defer tick.Stop()
		for {
			s.Notify("WATCHDOG=1")
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { stop(); <-done }
}
