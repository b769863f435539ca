// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A PortError says why the server could not listen.
type PortError struct {
	Host string
	Port int
	Err  error
}

func (e *PortError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE) || errors.Is(e.Err, wsaeaddrinuse):
		return fmt.Sprintf("port %d on %s is in use by another program: stop that one, or give another with --port", e.Port, e.Host)
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("port %d on %s needs more rights than this user has: give one from 1024 up with --port", e.Port, e.Host)
	case errors.Is(e.Err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("%s is no address of this machine: give another with --host", e.Host)
	}
	var dns *net.DNSError
	if errors.As(e.Err, &dns) {
		return fmt.Sprintf("%s is no known host name: give another with --host", e.Host)
	}
	return fmt.Sprintf("listen on port %d of %s: %s", e.Port, e.Host, cause(e.Err))
}

func (e *PortError) Unwrap() error { return e.Err }

// wsaeaddrinuse is WSAEADDRINUSE, which package syscall does not turn into
// EADDRINUSE on Windows; elsewhere no system call returns it.
const wsaeaddrinuse = syscall.Errno(10048)

func listen(host string, port int) (net.Listener, error) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, &PortError{Host: host, Port: port, Err: err}
	}
	return l, nil
}

// cause returns the text of the innermost part of a system call's error.
func cause(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err.Error()
	}
	return err.Error()
}
