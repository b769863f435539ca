// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// today is the day of all tests.
var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// quick are limits with which a registry that is well is never too slow, also
// on a busy machine, and a second try comes at once.
var quick = limits{
	answer: time.Minute, commit: time.Minute, ask: time.Minute, base: time.Minute, rate: 1 << 20,
	wait: 10 * time.Second, waits: 30 * time.Second, backoff: time.Millisecond, strikes: 2,
}

// A hub is a registry on loopback that a test can make fail.
type hub struct {
	*httptest.Server
	asked atomic.Int64

	mu    sync.Mutex
	fault func(w http.ResponseWriter, r *http.Request, next http.Handler) // nil: it is well
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{}
	well := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		h.mu.Lock()
		fault := h.fault
		h.mu.Unlock()
		if fault != nil {
			fault(w, r, well)
			return
		}
		well.ServeHTTP(w, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(h.Close)
	return h
}

func (h *hub) fail(f func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = f
}

func (h *hub) address(t *testing.T) Address {
	t.Helper()
	a, err := ParseAddress("oci://" + strings.TrimPrefix(h.URL, "http://") + "/1bit/outputs")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A machine builds one component with a store of its own.
type machine struct {
	*build.Builder
	cache   *Cache
	runs    atomic.Int64 // of the recipe's steps
	fetched atomic.Int64 // of what they need
	text    string       // what the step writes
	said    bytes.Buffer
	waits   []time.Duration
}

// setup changes how a machine uses a registry.
type setup func(*Options, *limits, *authn.Keychain)

func pushing(o *Options, _ *limits, _ *authn.Keychain) { o.Push = true }

func trusting(trust *Trust) setup {
	return func(o *Options, _ *limits, _ *authn.Keychain) { o.Trust = trust }
}

func signing(s *Signer) setup {
	return func(o *Options, _ *limits, _ *authn.Keychain) { o.Signer = s }
}

func newMachine(t *testing.T, a Address, setups ...setup) *machine {
	t.Helper()
	m := &machine{text: "made\n"}
	folder := build.Cache{Dir: t.TempDir()}
	st, err := folder.Store()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rmtree.All(folder.Dir) })
	o := Options{Address: a, Progress: progress.New(&m.said, false), Workspace: st.Workspace}
	l, keys := quick, authn.Keychain(authn.NewMultiKeychain())
	for _, s := range setups {
		s(&o, &l, &keys)
	}
	client, err := httpget.New()
	if err != nil {
		t.Fatal(err)
	}
	transport := client.MappedTransport()
	t.Cleanup(func() { transport.(*http.Transport).CloseIdleConnections() })
	wait := func(_ context.Context, d time.Duration) error { m.waits = append(m.waits, d); return nil }
	if m.cache, err = newCache(o, l, clock.Fixed(today), wait, keys, transport); err != nil {
		t.Fatal(err)
	}
	m.Builder = &build.Builder{Store: st, Cache: folder, Runner: (*runner)(m), Provider: (*provider)(m), Remote: m.cache, Progress: o.Progress}
	return m
}

// runner makes the component without a sandbox, and counts.
type runner machine

func (r *runner) Space() build.Space { return build.Sandboxed }

func (r *runner) Run(_ context.Context, j build.Job) ([]build.StepResult, error) {
	r.runs.Add(1)
	return []build.StepResult{{Name: "make"}}, makeOutput(j.Out, r.text)
}

func makeOutput(dir, text string) error {
	return errors.Join(
		os.MkdirAll(filepath.Join(dir, "bin"), 0o755), os.MkdirAll(filepath.Join(dir, "lib"), 0o755),
		os.WriteFile(filepath.Join(dir, "bin", "run"), []byte("#!/bin/sh\n"+text), 0o755),
		os.WriteFile(filepath.Join(dir, "lib", "a.so.1"), bytes.Repeat([]byte(text), 20_000), 0o644),
		os.Symlink("a.so.1", filepath.Join(dir, "lib", "a.so")),
	)
}

// provider has whatever is asked for, and counts.
type provider machine

func (p *provider) Source(context.Context, string) (string, error) { p.fetched.Add(1); return "/", nil }
func (p *provider) Input(context.Context, string, string) (string, error) {
	p.fetched.Add(1)
	return "/", nil
}
func (p *provider) Toolchain(context.Context, string) (string, error) {
	p.fetched.Add(1)
	return "/", nil
}

// component plans the component name.
func component(t testing.TB, name string, space build.Space) *build.PlannedComponent {
	t.Helper()
	in := &build.Inputs{Recipe: name, Space: space, Steps: []build.Step{{Name: "make", Args: []string{"make"}}}, Outputs: []string{"bin/run", "lib/a.so*"}, Epoch: 1_700_000_000}
	key, err := in.Key()
	if err != nil {
		t.Fatal(err)
	}
	r := &build.Recipe{Name: name, Toolchain: "tools", Steps: in.Steps, Outputs: in.Outputs}
	return &build.PlannedComponent{Recipe: r, Name: name, Inputs: in, Key: key}
}

// make builds the component name, or takes it from somewhere.
func (m *machine) make(t *testing.T, name string) *build.Built {
	t.Helper()
	return m.makeIn(t, name, build.Sandboxed)
}

func (m *machine) makeIn(t *testing.T, name string, space build.Space) *build.Built {
	t.Helper()
	c := component(t, name, space)
	made, err := m.try(t.Context(), c)
	if err != nil {
		t.Fatalf("%v\n%s", err, m.said.String())
	}
	if d := m.Store.Verify(c.Key); d != nil {
		t.Errorf("the store has %+v", d)
	}
	if left, _ := os.ReadDir(filepath.Join(m.Store.Dir(), "tmp")); len(left) > 0 {
		t.Errorf("the store's tmp holds %v", left)
	}
	return made
}

// try is make for other goroutines than the test's.
func (m *machine) try(ctx context.Context, c *build.PlannedComponent) (*build.Built, error) {
	all, err := m.Build(ctx, &build.Plan{Components: []*build.PlannedComponent{c}})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// warned checks what the user was told: one line with text, or none.
func (m *machine) warned(t *testing.T, text string) {
	t.Helper()
	var warnings []string
	for line := range strings.Lines(m.said.String()) {
		if strings.HasPrefix(line, "warning: ") {
			warnings = append(warnings, line)
		}
	}
	switch {
	case text == "" && len(warnings) > 0:
		t.Errorf("it warned: %q", warnings)
	case text != "" && (len(warnings) != 1 || !strings.Contains(warnings[0], text)):
		t.Errorf("it warned: %q, want one with %q", warnings, text)
	}
}

// listing is all that a folder holds.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		switch {
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %s %x\n", rel, st.Mode(), data)
			return err
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			fmt.Fprintf(&b, "%s -> %s\n", rel, target)
			return err
		}
		fmt.Fprintf(&b, "%s %s\n", rel, st.Mode())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
