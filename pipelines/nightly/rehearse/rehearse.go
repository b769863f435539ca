// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package rehearse plays several nights of the nightly job in a small world of
// its own: local upstreams of a few lines of Go, a local copy of a distribution
// with its own pins, patches and policy, no network, no account. It is for
// people who want to see what a night does, and for the tests over whole nights.
//
// Everything between the far ends is the real code: nightly.Run in mode run,
// recipes in the sandbox, the pinned Go. What must come out is written down in
// the story; anything else is an error that names it.
//
// Limits: it shows what the machine does with upstreams that change, not what
// it does with upstreams as large as the real ones.
package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// Options say how to rehearse.
type Options struct {
	Store    *store.Store // has the Go toolchain; nothing of it is changed
	Go       build.GoPin
	Out      string // folder for pages and proposals, new or empty; "": a new one in the system's
	Keep     string // folder that the world is left in, new or empty; "": it is removed
	Progress *progress.Reporter
}

// A Report is what came out.
type Report struct {
	Nights    []Played `json:"nights"`
	Surprises []string `json:"surprises,omitempty"` // what came out otherwise than written
	Look      []Hint   `json:"look"`
	Out       string   `json:"out"`
	Keep      string   `json:"keep,omitempty"`
	Seconds   float64  `json:"seconds"`
}

// A Played is a night that was played.
type Played struct {
	Number  int      `json:"number"`          // from 1
	Again   bool     `json:"again,omitempty"` // the night of the one before, once more
	Name    string   `json:"name"`
	Date    string   `json:"date"`
	Mode    string   `json:"mode"`
	Before  []string `json:"before,omitempty"`
	Rows    []Row    `json:"groups"`
	Out     string   `json:"out"`
	Seconds float64  `json:"seconds"`

	happened []Happen
}

// A Row is what a night did for a group.
type Row struct {
	Group   string          `json:"group"`
	Verdict verdict.Verdict `json:"verdict"`
	What    string          `json:"what"`
	Branch  string          `json:"branch,omitempty"`
	Commit  git.ID          `json:"commit,omitempty"`
	Draft   []string        `json:"draft,omitempty"`
	Quiet   bool            `json:"quiet,omitempty"` // there was nothing new
}

// Run plays the story. The error is of what kept it from being played; what came
// out otherwise than written is in the report.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	started := time.Now()
	_, err = toolchain.CachedGo(o.Store, o.Go.Version, o.Go.Sum)
	var absent *store.Absent
	if errors.As(err, &absent) {
		return nil, verdict.Infraf("the pinned Go (%s) is not in the store: run 'dist build' once, then rehearse again", o.Go.Version)
	}
	if err != nil {
		return nil, err
	}
	ours := o.Out == ""
	if o.Out, err = freshFolder(o.Out); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && ours {
			os.RemoveAll(o.Out)
		}
	}()
	// On the store's disk, so that the toolchain can be linked; it goes even
	// when this process is killed.
	work, done, err := o.Store.Workspace()
	if err != nil {
		return nil, err
	}
	defer done()
	dir := filepath.Join(work, "world")
	if o.Keep != "" {
		if dir, err = freshFolder(o.Keep); err != nil {
			return nil, err
		}
	}
	s := &stage{Options: o, work: work, ids: IDs{}, report: &Report{Out: o.Out}}
	if o.Keep != "" {
		s.report.Keep = dir
	}
	o.Progress.Step("making the upstreams and a distribution that follows them")
	if s.world, err = newWorld(ctx, dir, filepath.Join(work, "cache"), story(ctx, o.Go)); err != nil {
		return nil, err
	}
	if err := s.toolchain(ctx); err != nil {
		return nil, err
	}
	number := 0
	for _, n := range nights() {
		if !n.Same {
			number++
			s.world.Sleep(24 * time.Hour)
		}
		o.Progress.Step("night %d: %s", number, n.Name)
		if err := s.play(ctx, number, n); err != nil {
			return nil, fmt.Errorf("night %d: %w", number, err)
		}
		if len(s.report.Surprises) > 0 {
			break // the story goes on from what was written
		}
	}
	for _, h := range s.report.look() {
		if _, err := os.Stat(h.Path); err == nil {
			s.report.Look = append(s.report.Look, h)
		} else if len(s.report.Surprises) == 0 {
			s.report.Surprises = append(s.report.Surprises, "what is worth looking at is not there: "+h.Path)
		}
	}
	s.report.Seconds = time.Since(started).Seconds()
	return s.report, nil
}

// freshFolder makes a folder, or takes an empty one.
func freshFolder(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "dist-rehearse-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", verdict.Usagef("%s cannot be made: %s", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = verdict.Usagef("%s is not empty: name a folder that is new or empty", dir)
	}
	return dir, err
}

// A stage is a story that is being played.
type stage struct {
	Options
	world  *World
	work   string
	ids    IDs
	report *Report
}

// toolchain gives the world's store the Go toolchain.
func (s *stage) toolchain(ctx context.Context) error {
	e, err := s.world.Engine()
	if err != nil {
		return err
	}
	key, err := store.KeyOf(s.Go.Sum)
	if err != nil {
		return err
	}
	_, err = e.Store.Import(ctx, s.Store, key)
	return err
}

// play lets happen what comes before a night, runs it, and looks at what came
// out.
func (s *stage) play(ctx context.Context, number int, n Night) error {
	begun := time.Now()
	for _, h := range n.Before {
		if err := h.Do(ctx, s.world, s.ids); err != nil {
			return fmt.Errorf("%s: %w", h.What, err)
		}
	}
	name := fmt.Sprintf("night-%d", number)
	if n.Same {
		name += "-again"
	}
	p := Played{Number: number, Again: n.Same, Name: n.Name, Date: s.world.Now.Format(time.DateOnly), Mode: string(n.Mode), Out: filepath.Join(s.Out, name), happened: n.Before}
	if p.Mode == "" {
		p.Mode = string(round.Live)
	}
	before, err := s.heads(ctx)
	if err != nil {
		return err
	}
	if n.Dark {
		address, err := closedPort()
		if err != nil {
			return err
		}
		back, err := s.world.NoNetwork(address)
		if err != nil {
			return err
		}
		defer back()
	}
	o, err := s.world.Night(ctx, filepath.Join(s.work, name))
	if err != nil {
		return err
	}
	o.Mode, o.Groups, o.Without, o.Out, o.Recipes = round.Mode(p.Mode), n.Groups, n.Without, p.Out, recipes()
	r, err := run(ctx, o)
	if err != nil {
		return err
	}
	after, err := s.heads(ctx)
	if err != nil {
		return err
	}
	for _, h := range n.Before {
		p.Before = append(p.Before, h.Who+": "+h.What)
	}
	for _, g := range r.Groups {
		p.Rows = append(p.Rows, rowOf(g))
	}
	p.Seconds = time.Since(begun).Seconds()
	s.report.Nights = append(s.report.Nights, p)
	for _, text := range s.surprises(n, r, p.Out, before, after) {
		s.report.Surprises = append(s.report.Surprises, fmt.Sprintf("night %d (%s): %s", number, n.Name, text))
	}
	return nil
}

// heads are the branches of the distribution, but for the state.
func (s *stage) heads(ctx context.Context) (map[string]git.ID, error) {
	refs, err := s.world.Main.ForEachRef(ctx, "refs/heads")
	if err != nil {
		return nil, err
	}
	heads := map[string]git.ID{}
	for _, r := range refs {
		if name := strings.TrimPrefix(r.Name, "refs/heads/"); name != "nightly-state" {
			heads[name] = r.ID
		}
	}
	return heads, nil
}

// closedPort returns an address where nothing listens.
func closedPort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", verdict.Infraf("there is no loopback network: %w", err)
	}
	defer l.Close()
	return "http://" + l.Addr().String(), nil
}

// readText returns a file's text, or nothing.
func readText(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}
