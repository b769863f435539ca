// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// noon is the time of these tests.
var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// A site is a server with files at paths, which tests change as they like.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string]string // path, with query where the request has one, to body
	answers  map[string]http.HandlerFunc
	requests []string
	tokens   []string // Authorization headers that came
}

func newSite(t *testing.T) *site {
	s := &site{files: map[string]string{}, answers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.URL.RequestURI())
		if a := r.Header.Get("Authorization"); a != "" {
			s.tokens = append(s.tokens, a)
		}
		answer, special := s.answers[r.URL.RequestURI()]
		body, ok := s.files[r.URL.RequestURI()]
		s.mu.Unlock()
		switch {
		case special:
			answer(w, r)
		case ok:
			http.ServeContent(w, r, "", noon, strings.NewReader(body))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) put(path, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = body
}

func (s *site) answer(path string, f http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = f
}

func (s *site) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// newKinds returns an engine for which each host is a folder of the site.
func newKinds(t *testing.T, s *site, hosts ...string) *Engine {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writable(dir) })
	h, err := httpget.New(httpget.WithAllowHTTP(), httpget.WithAttempts(2), httpget.WithProxy(nil),
		httpget.WithClock(clock.Fixed(noon), func(context.Context, time.Duration) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	m := &Mirrors{AllowHTTP: true, URLs: map[string]Mirror{}, Images: map[string]Mirror{}}
	for _, host := range hosts {
		m.URLs["https://"+host+"/"] = Mirror{To: s.URL + "/" + host + "/"}
	}
	return &Engine{Set: &pins.Set{}, Mirrors: m, Store: st, CacheDir: dir, HTTP: h, Clock: clock.Fixed(noon)}
}

// writable lets a test's folder be removed.
func writable(dir string) {
	filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(name, 0o777)
		}
		return nil
	})
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// stored returns how many entries the store has.
func stored(t *testing.T, e *Engine) int {
	t.Helper()
	all, err := e.Store.List()
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// wantError holds an error to one sentence, a verdict and words.
func wantError(t *testing.T, err error, v verdict.Verdict, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %s with %q", v, words)
	}
	if got := verdict.Of(err); got != v {
		t.Errorf("verdict %s, want %s: %v", got, v, err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
}

// update resolves and locks a pin as an update does.
func update(t *testing.T, e *Engine, p *pins.Pin) (*pins.Lock, error) {
	t.Helper()
	k := kindOf(p)
	c, err := k.newest(t.Context(), e, p)
	if err != nil {
		return nil, err
	}
	return k.lock(t.Context(), e, p, c)
}

// locked updates a pin, writes its lock as a file would have it, and reads the
// content with the network forbidden.
func locked(t *testing.T, e *Engine, p *pins.Pin) []*store.Entry {
	t.Helper()
	l, err := update(t, e, p)
	if err != nil {
		t.Fatal(err)
	}
	p.Lock = l
	if p.State() != pins.Verified {
		t.Fatalf("the lock is %s: %+v", p.State(), l)
	}
	off := *e
	off.Offline, off.HTTP = true, nil
	entries, err := kindOf(p).fetch(t.Context(), &off, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range entries {
		if d := e.Store.Verify(x.Key); d != nil {
			t.Errorf("damaged: %+v", d)
		}
	}
	return entries
}

func TestMovedFileKeepsTheOldOne(t *testing.T) {
	s := newSite(t)
	e := newKinds(t, s, "files.example")
	s.put("/files.example/a.bin", "first")
	d := download{name: "a.bin", url: "https://files.example/a.bin", expect: httpget.Expect{SHA256: sha("first"), Size: 5}}
	entry, standsIn, err := e.file(t.Context(), d)
	if err != nil || standsIn != "https://files.example/a.bin" {
		t.Fatal(entry, standsIn, err)
	}
	s.put("/files.example/a.bin", "other")
	d.expect.SHA256 = sha("never")
	_, _, err = e.file(t.Context(), d)
	var wrong *httpget.SumMismatch
	if !errors.As(err, &wrong) {
		t.Fatalf("want a SumMismatch, got %v", err)
	}
	if got, _ := os.ReadFile(entry.Path); string(got) != "first" || stored(t, e) != 1 {
		t.Errorf("the old file is %q, %d entries", got, stored(t, e))
	}
	e.Offline = true
	_, _, err = e.file(t.Context(), d)
	wantError(t, err, verdict.Infra, "a.bin", "--offline")
}

// A download that broke off is continued where it stopped, and a range from
// another place is not taken (modelscope/modelscope_hub#50).
func TestResumedDownload(t *testing.T) {
	s := newSite(t)
	e := newKinds(t, s, "files.example")
	body := strings.Repeat("0123456789", 1000)
	var ranges []string
	cut := true
	s.answer("/files.example/big", func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		w.Header().Set("Etag", `"v1"`)
		if cut {
			w.Header().Set("Content-Length", "10000")
			w.Write([]byte(body[:4000]))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", noon, strings.NewReader(body))
	})
	d := download{name: "big", url: "https://files.example/big", expect: httpget.Expect{SHA256: sha(body), Size: 10000}}
	_, _, err := e.file(t.Context(), d)
	wantError(t, err, verdict.Infra, "broke off")
	if stored(t, e) != 0 {
		t.Error("something is in the store")
	}
	cut = false
	entry, _, err := e.file(t.Context(), d)
	if err != nil || entry.Size != 10000 {
		t.Fatal(entry, err)
	}
	if last := ranges[len(ranges)-1]; last != "bytes=4000-" && last != "bytes=8000-" {
		t.Errorf("the last request asked for %q of all", last)
	}
}
