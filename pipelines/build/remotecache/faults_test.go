// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/1bit-MONSTER/engine/pipelines/build"
)

type handler = func(w http.ResponseWriter, r *http.Request, next http.Handler)

// answers makes every request that is of a kind fail with a status.
func answers(code int, kind func(*http.Request) bool) handler {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !kind(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(code)
		// Some registries say again what they were sent.
		fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":"\u001b[31m%s"}]}`, r.Header.Get("Authorization"))
	}
}

func all(*http.Request) bool         { return true }
func manifests(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }
func blobs(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/blobs/sha256:") && r.Method == http.MethodGet
}

// layers are blobs of more than 10,000 bytes; others say how one is answered.
func layers(f func(w http.ResponseWriter, r *http.Request, blob []byte)) handler {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !blobs(r) {
			next.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		if blob := rec.Body.Bytes(); bytes.HasPrefix(blob, []byte("\x28\xb5\x2f\xfd")) {
			f(w, r, blob)
			return
		}
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes())
	}
}

// breakOff closes the connection.
func breakOff(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// instead answers requests for manifests with others.
func instead(contentType string, body []byte) handler {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !manifests(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	}
}

// A registry that fails in any way costs a warning, and the component is built.
func TestFailingRegistryNeverBreaksABuild(t *testing.T) {
	const oci = "application/vnd.oci.image.manifest.v1+json"
	stop := make(chan struct{})
	defer close(stop) // those that hang
	for _, c := range []struct {
		name  string
		fault handler
		warn  string
		setup setup
	}{
		{"401", answers(401, all), "it wants other credentials", nil},
		{"403", answers(403, manifests), "it wants other credentials (Forbidden)", nil},
		{"404", answers(404, manifests), "", nil},
		{"no registry at all", answers(404, all), "it answers 404 Not Found", nil},
		{"429", answers(429, all), "it wants to be asked less", nil},
		{"500", answers(500, all), "it answers 500 Internal Server Error", nil},
		{"503 for blobs", answers(503, blobs), "it answers 503 Service Unavailable", nil},
		{"a status that nobody knows", answers(599, manifests), "it answers 599", nil},
		{"a blob that is gone", answers(404, blobs), "it lacks a part of the entry", nil},
		{"a connection that is closed at once", func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { breakOff(w) }, "it cannot be asked", nil},
		{"a truncated blob", layers(func(w http.ResponseWriter, _ *http.Request, b []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			w.Write(b[:len(b)/2])
			w.(http.Flusher).Flush()
			breakOff(w)
		}), "it broke off after", nil},
		{"a shorter blob", layers(func(w http.ResponseWriter, _ *http.Request, b []byte) { w.Write(b[:len(b)-1]) }), "it broke off after", nil},
		{"a longer blob", layers(func(w http.ResponseWriter, _ *http.Request, b []byte) { w.Write(append(b, 0)) }), "it sends other bytes", nil},
		{"an endless blob", layers(func(w http.ResponseWriter, _ *http.Request, b []byte) {
			for {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		}), "it sends other bytes", nil},
		{"other bytes of the same length", layers(func(w http.ResponseWriter, _ *http.Request, b []byte) {
			b = slices.Clone(b)
			b[len(b)/2] ^= 1
			w.Write(b)
		}), "it sends other bytes", nil},
		{"a manifest that is none", instead(oci, []byte("<html>")), "its manifest is none of an output: it cannot be read", nil},
		{"an empty manifest", instead(oci, nil), "it cannot be read", nil},
		{"a manifest of an image", instead(oci, []byte(`{"schemaVersion":2,"mediaType":"`+oci+`","config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":2,"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"layers":[]}`)), "its artifact type is another", nil},
		{"an index", instead("application/vnd.oci.image.index.v1+json", []byte(`{"schemaVersion":2,"manifests":[]}`)), "its media type is another", nil},
		{"a large manifest", instead(oci, bytes.Repeat([]byte(" "), maxManifest+1)), "it is too large", nil},
		{"a huge manifest", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !manifests(r) {
				next.ServeHTTP(w, r)
				return
			}
			for {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
					return
				}
			}
		}, "its answer is larger than 1048576 bytes", nil},
		{"one that does not answer", func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}, "it did not answer within 300ms", func(_ *Options, l *limits, _ *authn.Keychain) { l.answer, l.strikes = 300*time.Millisecond, 1 }},
		{"one that stops in the middle", layers(func(w http.ResponseWriter, r *http.Request, b []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			w.Write(b[:len(b)/2])
			w.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}), "it sent nothing more within 3s", func(_ *Options, l *limits, _ *authn.Keychain) { l.answer = 3 * time.Second }},
		{"one that drips", layers(func(w http.ResponseWriter, r *http.Request, b []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			for _, c := range b {
				select {
				case <-time.After(50 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
				w.Write([]byte{c})
				w.(http.Flusher).Flush()
			}
		}), "it was not done in time", func(_ *Options, l *limits, _ *authn.Keychain) { l.base = 400 * time.Millisecond }},
		{"one that sends us elsewhere without TLS", layers(func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, "http://blobs.example.com/secret?signature=secret", http.StatusTemporaryRedirect)
		}), "blobs.example.com would be asked without TLS", nil},
		{"one that sends us into the network around it", layers(func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, "https://169.254.169.254/latest?signature=secret", http.StatusTemporaryRedirect)
		}), "it cannot be asked", nil},
		{"one that sends us in circles", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if manifests(r) {
				http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
				return
			}
			next.ServeHTTP(w, r)
		}, "it sends us on more than 10 times", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t)
			a := newMachine(t, h.address(t), pushing)
			want := a.make(t, "demo")
			h.fail(c.fault)
			var setups []setup
			if c.setup != nil {
				setups = append(setups, c.setup)
			}
			b := newMachine(t, h.address(t), setups...)
			made := b.make(t, "demo")
			if made.From != "" || b.runs.Load() != 1 || made.Sum != want.Sum {
				t.Errorf("got %+v, %d runs", made, b.runs.Load())
			}
			b.warned(t, c.warn)
			if said := b.said.String(); strings.Contains(said, "secret") || strings.ContainsRune(said, '\x1b') {
				t.Errorf("it says %q", said)
			}
		})
	}
}

func TestRegistryThatIsGone(t *testing.T) {
	h := newHub(t)
	a := h.address(t)
	h.Close()
	m := newMachine(t, a, pushing)
	if made := m.make(t, "demo"); made.From != "" || m.runs.Load() != 1 {
		t.Errorf("got %+v", made)
	}
	for _, direction := range []string{"demo is not taken from there: it cannot be asked", "demo is not pushed: it cannot be asked"} {
		if said := m.said.String(); strings.Count(said, direction) != 1 {
			t.Errorf("it says %s", said)
		}
	}
}

// A registry whose certificate nobody knows, on this machine, where http is tried
// too.
func TestRegistryWithAnUnknownCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	a, err := ParseAddress("oci://" + strings.TrimPrefix(s.URL, "https://") + "/1bit")
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, a)
	m.make(t, "demo")
	m.warned(t, "its certificate is not to be trusted")
}

// One warning more tells that a registry is left alone; then it is not asked.
func TestFailingRegistryIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault handler
		told  int // warnings
	}{
		{"after two answers of 500", answers(500, all), 2},
		{"after one refusal", answers(401, all), 1},
		{"never for what it does not have", answers(404, manifests), 0},
		{"never for entries that are no good", instead("text/html", []byte("x")), 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t)
			h.fail(c.fault)
			m := newMachine(t, h.address(t))
			var asked int64
			for i := range 4 {
				asked = h.asked.Load()
				m.make(t, fmt.Sprintf("demo-%d", i))
			}
			said := m.said.String()
			if n := strings.Count(said, "warning: "); n != c.told {
				t.Errorf("%d warnings: %s", n, said)
			}
			alone := c.told == 1 || c.told == 2
			if got := h.asked.Load() == asked; got != alone {
				t.Errorf("left alone: %v, want %v", got, alone)
			}
			if got := strings.Count(said, "left alone for the rest of this run"); got > 1 || (got == 1) != alone {
				t.Errorf("it says %s", said)
			}
		})
	}
	t.Run("failures between successes do not add up", func(t *testing.T) {
		h := newHub(t)
		m := newMachine(t, h.address(t))
		for i := range 6 {
			if h.fail(nil); i%2 == 0 {
				h.fail(answers(500, manifests))
			}
			m.make(t, fmt.Sprintf("demo-%d", i))
		}
		if said := m.said.String(); strings.Count(said, "warning: ") != 3 || strings.Contains(said, "left alone") {
			t.Errorf("it says %s", said)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, after string
		times       int // that it answers 429
		hit         bool
		waits       []time.Duration
	}{
		{"seconds", "7", 1, true, []time.Duration{7 * time.Second}},
		{"a date", today.Add(4 * time.Second).Format(http.TimeFormat), 1, true, []time.Duration{4 * time.Second}},
		{"a date that is over", today.Add(-time.Hour).Format(http.TimeFormat), 1, true, []time.Duration{0}},
		{"nothing", "", 1, true, []time.Duration{time.Second}},
		{"more than we wait", "3600", 1, false, nil},
		{"more than there is", "99999999999999999999", 1, false, nil},
		{"nonsense", "soon", 1, false, nil},
		{"again and again", "7", 1000, false, []time.Duration{7 * time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t)
			newMachine(t, h.address(t), pushing).make(t, "demo")
			left := c.times
			h.fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if manifests(r) && left > 0 {
					left--
					w.Header().Set("Retry-After", c.after)
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				next.ServeHTTP(w, r)
			})
			m := newMachine(t, h.address(t))
			if made := m.make(t, "demo"); (made.From != "") != c.hit {
				t.Errorf("got %+v", made)
			}
			if !slices.Equal(m.waits, c.waits) {
				t.Errorf("it waited %v, want %v", m.waits, c.waits)
			}
			if !c.hit {
				m.warned(t, "it wants to be asked less (429)")
			}
		})
	}
	t.Run("all waits of a run together", func(t *testing.T) {
		h := newHub(t)
		m := newMachine(t, h.address(t))
		n := 0
		h.fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n++; manifests(r) && n%2 == 0 {
				w.Header().Set("Retry-After", "9")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			next.ServeHTTP(w, r)
		})
		for i := range 12 {
			m.make(t, fmt.Sprintf("demo-%d", i))
		}
		if len(m.waits) != 3 { // 27 of 30 seconds
			t.Errorf("it waited %v", m.waits)
		}
	})
}

// A registry that takes nothing costs a warning; nothing half-made shows in it.
func TestPushThatFails(t *testing.T) {
	patch := func(r *http.Request) bool { return r.Method == http.MethodPatch }
	put := func(r *http.Request) bool { return manifests(r) && r.Method == http.MethodPut }
	post := func(r *http.Request) bool { return r.Method == http.MethodPost }
	stop := make(chan struct{})
	defer close(stop)
	for _, c := range []struct {
		name  string
		fault handler
		warn  string
		setup setup
	}{
		{"401", answers(401, post), "it wants other credentials", nil},
		{"403 for the manifest", answers(403, put), "it wants other credentials (Forbidden)", nil},
		{"405", answers(405, post), "it answers 405 Method Not Allowed", nil},
		{"413", answers(413, patch), "it has no room (Request Entity Too Large)", nil},
		{"429", answers(429, patch), "it wants to be asked less", nil},
		{"500", answers(500, patch), "it answers 500", nil},
		{"507", answers(507, patch), "it has no room (Insufficient Storage)", nil},
		{"gone in the middle", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if patch(r) {
				breakOff(w)
			}
			next.ServeHTTP(w, r)
		}, "it cannot be asked", nil},
		{"one that says that it has all and has nothing", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/blobs/") {
				w.WriteHeader(http.StatusOK)
				return
			}
			if put(r) {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			next.ServeHTTP(w, r)
		}, "it answers 400 Bad Request", nil},
		{"one that takes and does not answer", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if patch(r) {
				io.Copy(io.Discard, r.Body) // else the server does not see that the client leaves
				select {
				case <-stop:
				case <-r.Context().Done():
				}
				return
			}
			next.ServeHTTP(w, r)
		}, "it did not answer within 300ms", func(_ *Options, l *limits, _ *authn.Keychain) { l.commit = 300 * time.Millisecond }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t)
			h.fail(c.fault)
			setups := []setup{pushing}
			if c.setup != nil {
				setups = append(setups, c.setup)
			}
			m := newMachine(t, h.address(t), setups...)
			if made := m.make(t, "demo"); made.From != "" || m.runs.Load() != 1 {
				t.Errorf("got %+v", made)
			}
			m.warned(t, "demo is not pushed: "+c.warn)
			h.fail(nil)
			other := newMachine(t, h.address(t))
			if made := other.make(t, "demo"); made.From != "" {
				t.Error("another machine takes it")
			}
			other.warned(t, "")
		})
	}
	t.Run("no disk to pack on", func(t *testing.T) {
		h := newHub(t)
		m := newMachine(t, h.address(t), pushing, func(o *Options, _ *limits, _ *authn.Keychain) {
			o.Workspace = func() (string, func(), error) { return "", nil, errors.New("the disk is full") }
		})
		m.make(t, "demo")
		m.warned(t, "demo is not pushed: the disk is full")
	})
}

// An entry that was refused is replaced by who builds it and may push.
func TestBadEntryIsReplaced(t *testing.T) {
	h := newHub(t)
	a := h.address(t)
	c := component(t, "demo", build.Sandboxed)
	bad := manifest(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json"}`)
	if err := remote.Put(a.repo.Tag(string(c.Key)), bad); err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, a, pushing)
	m.make(t, "demo")
	m.warned(t, "its manifest is none of an output")
	if made := newMachine(t, a).make(t, "demo"); made.From == "" {
		t.Error("nobody can take it yet")
	}
}
