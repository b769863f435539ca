// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// slow stands before a git server: it waits before each answer, and counts what
// is in flight and the questions for each repository.
type slow struct {
	mu       sync.Mutex
	now, top int
	asked    map[string]int
	enough   chan struct{} // closed when eight are in flight
	next     http.Handler
}

func (s *slow) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/")
	if rest == "info/refs" {
		s.mu.Lock()
		s.asked[name]++
		s.now++
		if s.top = max(s.top, s.now); s.top == 8 && s.now == 8 {
			close(s.enough)
		}
		s.mu.Unlock()
		select { // 200 ms an answer, the first ones until eight wait
		case <-s.enough:
			time.Sleep(200 * time.Millisecond)
		case <-time.After(10 * time.Second):
		}
		defer func() {
			s.mu.Lock()
			s.now--
			s.mu.Unlock()
		}()
	}
	q.URL.Path = "/repo.git/" + rest
	s.next.ServeHTTP(w, q)
}

func TestCheckSideBySide(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	tip := up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	server := w.serve("x", up, gittest.ServerOptions{})
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{asked: map[string]int{}, enough: make(chan struct{}), next: httputil.NewSingleHostReverseProxy(target)}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	w.e.Mirrors.URLs = map[string]Mirror{"https://up.example/": {To: front.URL + "/"}}
	for i := range 20 {
		w.pin(fmt.Sprintf("p%02d", i), followMain)
	}
	rows, err := w.e.Check(t.Context(), w.load().Pins)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Verdict != verdict.Pass || r.Newest == nil || r.Newest.Commit != string(tip) || !r.Moves {
			t.Errorf("%+v", r)
		}
	}
	if s.top < 8 {
		t.Errorf("at most %d requests were in flight, want 8", s.top)
	}
	if len(s.asked) != 20 {
		t.Errorf("%d upstreams were asked", len(s.asked))
	}
	for name, n := range s.asked {
		if n != 1 {
			t.Errorf("%s was asked %d times", name, n)
		}
	}
	newest, err := pins.ReadNewest(w.e.CacheDir + "/" + pins.NewestFile)
	if err != nil || len(newest) != 20 || newest["p07"].Commit != string(tip) {
		t.Errorf("remembered %d, %v", len(newest), err)
	}
}

func TestCheckRows(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	tip := up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	w.serve("held", up, gittest.ServerOptions{})
	w.serve("bad", up, gittest.ServerOptions{})
	w.pin("held", followMain+"hold: {reason: ours is better}\n")
	w.pin("bad", followMain+"reject: ['"+string(tip)+"']\n")
	w.pin("down", followMain)
	w.e.Mirrors.URLs["https://up.example/down.git"] = Mirror{To: gittest.ClosedPort(t)}
	before := w.snapshot()
	rows, err := w.e.Check(t.Context(), w.load().Pins)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		v    verdict.Verdict
		text string
	}{{verdict.Held, "rejected"}, {verdict.Infra, "cannot be reached"}, {verdict.Held, "ours is better"}} {
		w.wants(rows[i].Verdict, rows[i].Why, want.v, want.text)
	}
	if WorstOf(rows, func(r Checked) verdict.Verdict { return r.Verdict }) != verdict.Infra {
		t.Error("the worst is not infra")
	}
	if w.snapshot() != before {
		t.Error("a check changed something")
	}
	// A hold does not bind a person.
	if l := w.must("held"); l.Commit != string(tip) {
		t.Errorf("locked %+v", l)
	}
	w.e.Offline = true
	rows, err = w.e.Check(t.Context(), []*pins.Pin{w.get("held")})
	if err != nil {
		t.Fatal(err)
	}
	w.wants(rows[0].Verdict, rows[0].Why, verdict.Infra, "--offline")
}

// What was asked is an answer even where the cache cannot keep it.
func TestCheckWithoutCache(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	w.local("x", up)
	w.pin("x", followMain)
	list := []*pins.Pin{w.get("x")}
	w.e.CacheDir += "/file/cache"
	w.write("../cache/file", "in the way")
	rows, err := w.e.Check(t.Context(), list)
	if err != nil || len(rows) != 1 || rows[0].Verdict != verdict.Pass || rows[0].Newest == nil {
		t.Errorf("%+v %v", rows, err)
	}
}
