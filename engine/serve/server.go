// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// A server is the state that requests see.
type server struct {
	config  Config
	guard   guard
	plan    atomic.Pointer[fleet] // nil until it is decided
	ready   atomic.Bool           // every program that starts at once has been ready
	closing atomic.Bool
	active  atomic.Int64 // requests under way
}

// A fleet is the programs behind us.
type fleet struct {
	main   []*unit
	rag    map[string]*unit // by role
	picker picker
	lazy   bool // the main ones start when they are first needed
}

// units returns all programs.
func (f *fleet) units() []*unit {
	list := append([]*unit{}, f.main...)
	for _, role := range []string{"embedding", "reranking"} {
		if u := f.rag[role]; u != nil {
			list = append(list, u)
		}
	}
	return list
}

// run plans, starts the backends and holds them until something ends.
func (s *server) run(ctx context.Context, status Status, failed <-chan error) error {
	service, err := route.New(ctx, s.config.Request, s.config.Machine)
	if err != nil {
		return err
	}
	for _, note := range service.Notes {
		s.config.Note(note)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // of the backends: until the requests are done
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	broken := make(chan error, 1)
	f := s.newFleet(service, life, &running, broken)
	s.plan.Store(f)
	defer func() {
		if p, ok := f.picker.(*layaPicker); ok {
			p.close()
		}
	}()

	switch err := s.begin(ctx, f, service, broken, failed); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	}
	s.ready.Store(true)
	notify(s.config.Ready, f.status(status))
	s.config.System.Notify("READY=1\nSTATUS=serving " + inert.Line(status.Model, aliasLimit))
	stopWatch := s.config.System.watch(life)
	defer stopWatch()
	select {
	case <-ctx.Done():
		s.closing.Store(true)
		s.config.System.Notify("STOPPING=1\nSTATUS=finishing the requests under way")
		s.drain(s.config.DrainLimit)
		return ctx.Err()
	case err := <-broken:
		s.closing.Store(true)
		s.drain(brokenTime) // requests under way are told that it did not answer
		return err
	case err := <-failed:
		return err
	}
}

// newFleet makes a unit of each plan; a unit that gives up says so in broken.
func (s *server) newFleet(service route.Service, life context.Context, running *sync.WaitGroup, broken chan<- error) *fleet {
	f := &fleet{rag: map[string]*unit{}, lazy: service.Pick.How == route.Laya}
	make := func(p route.Plan) *unit {
		u := newUnit(p, &s.config)
		u.launch = func() {
			running.Go(func() {
				if err := u.run(life); err != nil {
					select {
					case broken <- err:
					default: // another was first
					}
				}
			})
		}
		return u
	}
	for _, p := range service.Main {
		f.main = append(f.main, make(p))
	}
	for _, p := range service.RAG {
		f.rag[p.Role] = make(p)
	}
	return f
}

// begin starts what starts at once and waits until it is ready.
func (s *server) begin(ctx context.Context, f *fleet, service route.Service, broken, failed <-chan error) error {
	for _, u := range f.units() {
		if !f.lazy || u.plan.Role != "" {
			u.start()
		}
	}
	picker, err := newPicker(ctx, service.Pick, f.main, &s.config)
	if err != nil {
		return err
	}
	f.picker = picker
	for _, u := range f.units() {
		if f.lazy && u.plan.Role == "" {
			continue
		}
		select {
		case <-u.ready:
		case err := <-broken:
			return err
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// status adds the backends to a status.
func (f *fleet) status(status Status) Status {
	for _, u := range f.units() {
		b := Backend{Role: u.plan.Role, Device: u.plan.Device, Program: u.plan.Program}
		if t := u.target.Load(); t != nil {
			b.Args = t.args
		}
		status.Backends = append(status.Backends, b)
	}
	first := status.Backends[0]
	status.Device, status.Program, status.Args = first.Device, first.Program, first.Args
	return status
}

// drain waits for the requests under way, at most for limit.
func (s *server) drain(limit time.Duration) {
	for end := time.Now().Add(limit); s.active.Load() > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// errStopping says that a unit ended because all of serve does.
var errStopping = errors.New("the server is stopping")
