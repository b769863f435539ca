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
	"time"
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

// unixPrefix begins a --host that is a socket in the file system.
const unixPrefix = "unix:"

// listen returns the listener that the service manager made, else one on host
// and port, and the URL at which it is.
func listen(host string, port int, system System) (net.Listener, string, error) {
	if l, err := system.listener(); l != nil || err != nil {
		if err != nil {
			return nil, "", err
		}
		return l, address(l.Addr()), nil
	}
	if path, ok := strings.CutPrefix(host, unixPrefix); ok {
		l, err := listenUnix(path)
		return l, unixPrefix + path, err
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "" { // to the system that means every address: too much for a variable that was not set
		return nil, "", errors.New("--host needs an address: give 127.0.0.1 for this machine alone, 0.0.0.0 for every network")
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, "", &PortError{Host: host, Port: port, Err: err}
	}
	return l, address(l.Addr()), nil
}

func address(a net.Addr) string {
	if a.Network() == "unix" {
		return unixPrefix + a.String()
	}
	return "http://" + a.String()
}

// socketMode is who may use a socket of ours: this user and group.
const socketMode = 0o660

// listenUnix listens on a socket at path. A socket that nobody answers at is
// one that a killed server left, and is replaced.
func listenUnix(path string) (net.Listener, error) {
	if path == "" {
		return nil, errors.New("--host unix: needs the path of a socket after the colon")
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("%s is there and no socket: give another path with --host", path)
		}
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			c.Close()
		}
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("%s belongs to another user: give another path with --host", path)
		case !errors.Is(err, syscall.ECONNREFUSED):
			return nil, fmt.Errorf("%s is in use by another program: stop that one, or give another path with --host", path)
		}
		os.Remove(path)
	}
	l, err := net.Listen("unix", path)
	switch {
	case errors.Is(err, syscall.EINVAL):
		return nil, fmt.Errorf("the path %s is too long for a socket, most systems take about 100 bytes: give a shorter one with --host", path)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %s", path, cause(err))
	}
	if err := os.Chmod(path, socketMode); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen on %s: %s", path, cause(err))
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
