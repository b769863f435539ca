// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/1bit-MONSTER/engine/engine/child"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/route"
)

// A unit is one backend through all its lives.
type unit struct {
	plan   route.Plan
	config *Config
	mux    *http.ServeMux
	client *http.Client
	launch func() // starts run
	once   sync.Once
	target atomic.Pointer[target] // where it is; nil before its first life
	up     atomic.Bool            // it is ready now
	ready  chan struct{}          // closed when it was ready for the first time
	gone   chan struct{}          // closed when run ended
	active atomic.Int64           // requests under way
}

// A target is how one life of a unit is reached.
type target struct {
	base string // "http://127.0.0.1:PORT"
	key  string // empty when the user set one: then clients must send it
	args []string
}

// A backend that was ready for this long has its restarts back, and no wait
// before one is longer than restartMax.
const (
	restartForget = 10 * time.Minute
	restartMax    = 30 * time.Second
)

func newUnit(plan route.Plan, c *Config) *unit {
	u := &unit{plan: plan, config: c, mux: http.NewServeMux(), client: newClient(), ready: make(chan struct{}), gone: make(chan struct{})}
	for _, f := range plan.Forward {
		u.mux.Handle(f.Path, pattern{f})
	}
	return u
}

// start begins the unit's first life; again is nothing.
func (u *unit) start() { u.once.Do(u.launch) }

// run lives until life ends, then returns nil, or until the program ended once
// too often. A program that was never ready is not started again: it would
// fail in the same way.
func (u *unit) run(life context.Context) error {
	defer close(u.gone)
	for used := 0; ; used++ {
		lived, err := u.live(life)
		if life.Err() != nil {
			return nil
		}
		if lived > restartForget {
			used = 0
		}
		select {
		case <-u.ready:
		default:
			return err
		}
		if used >= u.config.Restart {
			return err
		}
		wait := min(u.config.RestartMin<<min(used, 10), restartMax)
		u.config.Note(fmt.Sprintf("%v\nstarting it again in %v (%d of %d)", err, wait, used+1, u.config.Restart))
		select {
		case <-life.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// live runs the program once. It returns how long it was ready, and why it
// ended.
func (u *unit) live(life context.Context) (time.Duration, error) {
	port, err := freePort()
	if err != nil {
		return 0, err
	}
	t := &target{base: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), args: u.plan.Argv(port)}
	env := append(environ(), u.plan.Env...)
	if os.Getenv(keyVariable) == "" && u.plan.Keyed { // an empty one would be no protection
		t.key = newKey()
		env = append(env, keyVariable+"="+t.key)
	}
	proc, err := child.Start(child.Command{Path: u.plan.Program, Args: t.args, Env: env, Log: u.config.Log, Drop: healthLine})
	if err != nil {
		return 0, u.fails("could not be started: "+cause(err), nil)
	}
	defer proc.Stop(u.config.StopGrace)
	u.target.Store(t)

	limit, cancel := context.WithTimeout(life, u.config.ReadyLimit)
	defer cancel()
	switch err := u.waitReady(limit, t, proc.Done()); {
	case life.Err() != nil:
		return 0, errStopping
	case errors.Is(err, errEnded):
		return 0, u.fails(proc.How(), proc.Tail())
	case err != nil:
		return 0, u.fails(fmt.Sprintf("was not ready after %v and was stopped", u.config.ReadyLimit), proc.Tail())
	}
	begin := time.Now()
	u.up.Store(true)
	select {
	case <-u.ready:
		u.config.Note(fmt.Sprintf("the %s backend is ready again", u.plan.Device))
	default:
		close(u.ready)
	}
	defer u.up.Store(false)
	select {
	case <-life.Done():
		return 0, errStopping
	case <-proc.Done():
		u.up.Store(false)
		return time.Since(begin), u.fails(proc.How(), proc.Tail())
	}
}

func (u *unit) fails(how string, tail []string) error {
	return &BackendError{Device: u.plan.Device, Program: u.plan.Program, How: how, Tail: tail}
}

// freePort returns a loopback port that nobody had a moment ago. A backend
// that finds it taken all the same ends, and says so.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("no free port for the backend: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// A BackendError says that a backend did not come up or ended.
type BackendError struct {
	Device  devices.Name
	Program string
	How     string   // "exited with status 1"
	Tail    []string // the last lines that it wrote
}

func (e *BackendError) Error() string {
	text := fmt.Sprintf("the %s backend %s %s", e.Device, filepath.Base(e.Program), e.How)
	if strings.HasPrefix(e.How, "exited") { // scripts look for "a DEVICE backend exited"
		text = fmt.Sprintf("a %s backend exited: %s %s", e.Device, filepath.Base(e.Program), e.How)
	}
	if len(e.Tail) == 0 {
		return text
	}
	text += "; its last lines:"
	for _, line := range e.Tail {
		text += "\n  " + line
	}
	return text
}
