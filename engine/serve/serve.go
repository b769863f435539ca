// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package serve is 1bit serve: an HTTP server that speaks the OpenAI API and
// passes the work on to backend programs, its private children.
//
// It listens before anything else, so that whoever started it can ask /health
// at once: 503 while the model loads, 200 from then on. It ends when its
// context does, and when a backend ends that may not be started again; no
// backend ever outlives it.
//
// There is no authentication: who needs it puts this behind something that has
// it. Bound to a loopback address, requests are refused that a web page of
// another site could have sent (guard.go).
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// Times. ReadyLimit is how long a backend may load unless a Config says
// otherwise: large models on slow disks take minutes. DrainLimit is how long
// requests under way may take when we are told to stop.
const (
	ReadyLimit = 600 * time.Second
	DrainLimit = 30 * time.Second

	readyFirst = 10 * time.Millisecond // it doubles up to readyPoll
	readyPoll  = 250 * time.Millisecond
	brokenTime = 2 * time.Second // for requests under way when a backend has ended
	flushLimit = time.Second
	stopGrace  = 5 * time.Second
)

// aliasLimit bounds a model's name in a note to the service manager, in runes.
const aliasLimit = 100

// A Config is what to serve and where.
type Config struct {
	Request    route.Request
	Machine    route.Host
	Host       string        // name or address to listen on, or unix:PATH
	Port       int           // 0: any free one
	Alias      string        // name of the model; empty: from its file
	ReadyLimit time.Duration // 0: the constant of that name
	DrainLimit time.Duration // 0: the constant of that name
	Restart    int           // how often in a row a backend that ended is started again
	RestartMin time.Duration // before the first time; it doubles; 0: a second
	StopGrace  time.Duration // for a backend between SIGTERM and SIGKILL; 0: five seconds
	Log        io.Writer     // gets the backends' lines; nil: nobody does
	System     System        // what the service manager gave us

	Listening func(Status)      // called once, when the listener is bound
	Ready     func(Status)      // called once, when the models are loaded
	Note      func(note string) // called for each line that the user should see
}

// A Status is where a server is and what it serves. All but the first two are
// empty until the model is loaded. Device, Program and Args are those of the
// first of the Backends.
type Status struct {
	URL      string       `json:"url"`
	Model    string       `json:"model"`
	Device   devices.Name `json:"device"`
	Program  string       `json:"program"`
	Args     []string     `json:"args"`
	Backends []Backend    `json:"backends"`
}

// A Backend is one program behind us. Args are empty for one that was not
// needed yet.
type Backend struct {
	Role    string       `json:"role,omitempty"`
	Device  devices.Name `json:"device"`
	Program string       `json:"program"`
	Args    []string     `json:"args"`
}

// Run serves until ctx ends, then stops and returns nil. Every other end is an
// error: *PortError, *BackendError, those of packages gguf and route.
func Run(ctx context.Context, c Config) error {
	c.fill()
	listener, url, err := listen(c.Host, c.Port, c.System)
	if err != nil {
		return err
	}
	defer listener.Close()
	s := &server{config: c, guard: newGuard(listener.Addr())}
	front := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(c.Log, "1bit serve: ", 0),
	}
	failed := make(chan error, 1)
	go func() {
		err := front.Serve(listener)
		if c.System.Sockets > 0 && (errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP)) {
			err = errors.New("the socket that the service manager passed does not listen: give its unit a ListenStream, without Accept=yes")
		} else {
			err = fmt.Errorf("listen on %s: %w", url, err)
		}
		failed <- err
	}()
	defer front.Close()

	status := Status{URL: url, Model: c.Alias}
	notify(c.Listening, status)
	c.System.Notify("STATUS=loading " + inert.Line(c.Alias, aliasLimit)) // a second line would be another note
	err = s.run(ctx, status, failed)
	s.closing.Store(true)
	flush, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	front.Shutdown(flush) // answers that are complete reach their clients
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil
	}
	return err
}

func (c *Config) fill() {
	if c.Log == nil {
		c.Log = io.Discard
	}
	if c.ReadyLimit == 0 {
		c.ReadyLimit = ReadyLimit
	}
	if c.DrainLimit == 0 {
		c.DrainLimit = DrainLimit
	}
	if c.RestartMin == 0 {
		c.RestartMin = time.Second
	}
	if c.StopGrace == 0 {
		c.StopGrace = stopGrace
	}
	if c.Alias == "" {
		c.Alias = route.Alias(c.Request.Model)
	}
	if c.Note == nil {
		c.Note = func(string) {}
	}
}

func notify(f func(Status), s Status) {
	if f != nil {
		f(s)
	}
}
