// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/route"
)

// ServeHTTP answers what is ours and passes the rest on.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if reason := s.guard.refuse(r); reason != "" {
		sendError(w, http.StatusForbidden, "forbidden", reason)
		return
	}
	switch r.URL.Path {
	case "/health", "/v1/health":
		if allow(w, r, http.MethodGet) {
			s.health(w)
		}
		return
	case "/v1/models":
		if allow(w, r, http.MethodGet) {
			s.models(w)
		}
		return
	}
	f := s.plan.Load()
	var want route.Forward
	if f != nil {
		var ok bool
		if want, ok = f.match(w, r); !ok || !allow(w, r, want.Method) {
			return
		}
	}
	s.active.Add(1) // before the look at closing: who drains counts after having set it
	defer s.active.Add(-1)
	switch {
	case s.closing.Load():
		sendError(w, http.StatusServiceUnavailable, "unavailable_error", "the server is stopping")
	case f == nil || !s.ready.Load():
		sendError(w, http.StatusServiceUnavailable, "unavailable_error", "model is loading")
	default:
		s.pass(w, r, f, want)
	}
}

// match returns what is at the request's path, or answers that nothing is.
func (f *fleet) match(w http.ResponseWriter, r *http.Request) (route.Forward, bool) {
	if f.rag[role(r.URL.Path)] != nil {
		return route.Forward{Method: http.MethodPost, Path: r.URL.Path, JSON: true}, true
	}
	if want, ok := f.main[0].match(r); ok {
		return want, true
	}
	device := string(f.main[0].plan.Device)
	for _, other := range route.AllForwards() {
		if other.Path == r.URL.Path || (strings.HasPrefix(other.Path, "/slots/") && strings.HasPrefix(r.URL.Path, "/slots/")) {
			sendError(w, http.StatusNotImplemented, "not_implemented", r.URL.Path+" is not available on --device "+device)
			return route.Forward{}, false
		}
	}
	sendError(w, http.StatusNotFound, "not_found_error", "there is nothing at "+r.URL.Path)
	return route.Forward{}, false
}

// role returns the role whose work is done at a path, or "".
func role(path string) string {
	switch path {
	case "/v1/embeddings", "/embeddings":
		return "embedding"
	case "/v1/rerank", "/rerank", "/v1/reranking", "/reranking":
		return "reranking"
	}
	return ""
}

// pass chooses a backend and passes the request on to it.
func (s *server) pass(w http.ResponseWriter, r *http.Request, f *fleet, want route.Forward) {
	body, ok := takeBody(w, r, want)
	if !ok {
		return
	}
	u, note, alias := f.main[0], "", s.config.Alias
	switch beside := f.rag[role(r.URL.Path)]; {
	case beside != nil:
		u, alias = beside, route.Alias(beside.plan.Model)
		u.active.Add(1)
	case r.Method == http.MethodPost && (r.URL.Path == "/v1/chat/completions" || r.URL.Path == "/v1/completions"):
		u, note = f.picker.pick(r.Context(), ask{r.URL.Path, body, r.Header.Get("Authorization"), readConversation(body)})
	default:
		u.active.Add(1)
	}
	defer u.active.Add(-1)
	if u.wait(r.Context()) {
		u.forward(w, r, want, body, alias, note)
		return
	}
	if r.Context().Err() == nil {
		w.Header().Set("Retry-After", "5")
		sendError(w, http.StatusServiceUnavailable, "unavailable_error", "the "+string(u.plan.Device)+" backend ended and is being started again")
	}
}

// wait says whether the unit can be asked; it starts one that was not needed
// before, and waits for it.
func (u *unit) wait(ctx context.Context) bool {
	u.start()
	select {
	case <-u.ready:
		return u.up.Load() || u.config.Restart == 0 // without restarts the client learns that it did not answer
	case <-u.gone:
	case <-ctx.Done():
	}
	return false
}

func (s *server) health(w http.ResponseWriter) {
	state := "ok"
	switch f := s.plan.Load(); {
	case s.closing.Load():
		state = "stopping"
	case !s.ready.Load():
		state = "loading"
	default:
		for _, u := range f.units() {
			if !u.up.Load() && (!f.lazy || u.plan.Role != "") {
				state = "restarting"
			}
		}
	}
	code := http.StatusServiceUnavailable
	if state == "ok" {
		code = http.StatusOK
	}
	sendJSON(w, code, map[string]string{"status": state})
}

// A modelEntry is one model in the answer to /v1/models.
type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	OwnedBy string `json:"owned_by"`
	Device  string `json:"device"`
	Role    string `json:"role,omitempty"`
}

func (s *server) models(w http.ResponseWriter) {
	f := s.plan.Load()
	if f == nil || !s.ready.Load() {
		sendError(w, http.StatusServiceUnavailable, "unavailable_error", "model is loading")
		return
	}
	list := []modelEntry{{s.config.Alias, "model", "1bit", string(f.main[0].plan.Device), ""}}
	for _, u := range f.units() {
		if u.plan.Role != "" {
			list = append(list, modelEntry{route.Alias(u.plan.Model), "model", "1bit", string(u.plan.Device), u.plan.Role})
		}
	}
	sendJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

// allow answers 405 and returns false when the request's method is another.
// HEAD is allowed where GET is.
func allow(w http.ResponseWriter, r *http.Request, method string) bool {
	if r.Method == method || (r.Method == http.MethodHead && method == http.MethodGet) {
		return true
	}
	w.Header().Set("Allow", method)
	sendError(w, http.StatusMethodNotAllowed, "invalid_request_error", r.URL.Path+" takes "+method)
	return false
}

// sendError answers in the form of the OpenAI API.
func sendError(w http.ResponseWriter, code int, kind, message string) {
	sendJSON(w, code, map[string]any{"error": map[string]any{"code": code, "message": message, "type": kind}})
}

func sendJSON(w http.ResponseWriter, code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types come here
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(append(body, '\n'))
}
