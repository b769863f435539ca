// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package serve is 1bit serve: an HTTP server that speaks the OpenAI API and
// passes the work on to a backend program, its private child.
//
// It listens before anything else, so that whoever started it can ask /health
// at once: 503 while the model loads, 200 from then on. It ends when its
// context does, and when its backend ends; the backend never outlives it.
//
// There is no authentication: who needs it puts this behind something that has
// it. Bound to a loopback address, requests are refused that a web page of
// another site could have sent (guard.go).
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/1bit-MONSTER/engine/engine/child"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/route"
)

// Times. ReadyLimit is how long a backend may load unless a Config says
// otherwise: large models on slow disks take minutes.
const (
	ReadyLimit = 600 * time.Second
	readyPoll  = 250 * time.Millisecond
	drainLimit = 2 * time.Second // for requests under way when we are told to stop
	flushLimit = time.Second
	stopGrace  = 5 * time.Second // for the backend between SIGTERM and SIGKILL
)

// A Config is what to serve and where.
type Config struct {
	Request    route.Request
	Machine    route.Host
	Host       string        // name or address to listen on
	Port       int           // 0: any free one
	Alias      string        // name of the model; empty: from its file
	ReadyLimit time.Duration // 0: the constant of that name
	Log        io.Writer     // gets the backend's lines; nil: nobody does

	Listening func(Status) // called once, when the listener is bound
	Ready     func(Status) // called once, when the model is loaded
}

// A Status is where a server is and what it serves. Device, Program and Args
// are empty until the model is loaded.
type Status struct {
	URL     string       `json:"url"`
	Model   string       `json:"model"`
	Device  devices.Name `json:"device"`
	Program string       `json:"program"`
	Args    []string     `json:"args"`
}

// A server is the state that requests see.
type server struct {
	alias   string
	guard   guard
	route   atomic.Pointer[backend] // nil until it is decided
	ready   atomic.Bool
	closing atomic.Bool
}

// Run serves until ctx ends, then stops and returns nil. Every other end is an
// error: *PortError, *BackendError, those of packages gguf and route.
func Run(ctx context.Context, c Config) error {
	if c.Log == nil {
		c.Log = io.Discard
	}
	if c.ReadyLimit == 0 {
		c.ReadyLimit = ReadyLimit
	}
	if c.Alias == "" {
		c.Alias = route.Alias(c.Request.Model)
	}
	listener, err := listen(c.Host, c.Port)
	if err != nil {
		return err
	}
	s := &server{alias: c.Alias, guard: newGuard(listener.Addr())}
	front := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(c.Log, "1bit serve: ", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- front.Serve(listener) }()
	defer front.Close()

	status := Status{URL: "http://" + listener.Addr().String(), Model: c.Alias}
	notify(c.Listening, status)
	err = s.run(ctx, c, status, failed)
	s.closing.Store(true)
	flush, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	front.Shutdown(flush) // answers that are complete reach their clients
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil
	}
	return err
}

// run starts the backend and holds it until something ends.
func (s *server) run(ctx context.Context, c Config, status Status, failed <-chan error) error {
	model, err := route.ReadModel(c.Request.Model)
	if err != nil {
		return err
	}
	plan, err := route.New(ctx, c.Request, model, c.Machine)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	b := newBackend(plan, port)
	args := append(append([]string{}, plan.Args...), route.Address(port)...)
	proc, err := child.Start(child.Command{
		Path: plan.Program,
		Args: args,
		Env:  append(append(os.Environ(), plan.Env...), b.env...),
		Log:  c.Log,
		Drop: healthLine,
	})
	if err != nil {
		return &BackendError{Device: plan.Device, Program: plan.Program, How: "could not be started: " + cause(err)}
	}
	defer proc.Stop(stopGrace)
	s.route.Store(b)
	status.Device, status.Program, status.Args = plan.Device, plan.Program, args

	died := func() error {
		return &BackendError{Device: plan.Device, Program: plan.Program, How: proc.How(), Tail: proc.Tail()}
	}
	limit, cancel := context.WithTimeout(ctx, c.ReadyLimit)
	defer cancel()
	switch err := b.waitReady(limit, proc.Done()); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errEnded):
		return died()
	case err != nil:
		return &BackendError{Device: plan.Device, Program: plan.Program, Tail: proc.Tail(),
			How: fmt.Sprintf("was not ready after %v and was stopped", c.ReadyLimit)}
	}
	s.ready.Store(true)
	notify(c.Ready, status)
	select {
	case <-ctx.Done():
		s.closing.Store(true)
		s.drain()
		return ctx.Err()
	case <-proc.Done():
		s.closing.Store(true)
		s.drain() // requests under way are told that it did not answer
		return died()
	case err := <-failed:
		return fmt.Errorf("listen on %s: %w", status.URL, err)
	}
}

// drain waits for the requests under way, for a short while.
func (s *server) drain() {
	b := s.route.Load()
	for end := time.Now().Add(drainLimit); b.active.Load() > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

func notify(f func(Status), s Status) {
	if f != nil {
		f(s)
	}
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

// newKey returns a secret that only we and our child know.
func newKey() string { return rand.Text() }

// A BackendError says that the backend did not come up or ended.
type BackendError struct {
	Device  devices.Name
	Program string
	How     string   // "exited with status 1"
	Tail    []string // the last lines that it wrote
}

func (e *BackendError) Error() string {
	text := fmt.Sprintf("the %s backend %s %s", e.Device, filepath.Base(e.Program), e.How)
	if len(e.Tail) == 0 {
		return text
	}
	text += "; its last lines:"
	for _, line := range e.Tail {
		text += "\n  " + line
	}
	return text
}
