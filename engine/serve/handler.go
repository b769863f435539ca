// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"net/http"
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
	b := s.route.Load()
	if b != nil {
		if f, ok := b.match(r); !ok {
			sendError(w, http.StatusNotFound, "not_found_error", "there is nothing at "+r.URL.Path)
			return
		} else if !allow(w, r, f.Method) {
			return
		}
	}
	switch {
	case s.closing.Load():
		sendError(w, http.StatusServiceUnavailable, "unavailable_error", "the server is stopping")
	case b == nil || !s.ready.Load():
		sendError(w, http.StatusServiceUnavailable, "unavailable_error", "model is loading")
	default:
		f, _ := b.match(r)
		b.forward(w, r, f, s.alias)
	}
}

func (s *server) health(w http.ResponseWriter) {
	switch {
	case s.closing.Load():
		sendJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "stopping"})
	case !s.ready.Load():
		sendJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "loading"})
	default:
		sendJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	}
}

// A modelEntry is one model in the answer to /v1/models.
type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	OwnedBy string `json:"owned_by"`
	Device  string `json:"device"`
}

func (s *server) models(w http.ResponseWriter) {
	b := s.route.Load()
	if b == nil || !s.ready.Load() {
		sendError(w, http.StatusServiceUnavailable, "unavailable_error", "model is loading")
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data":   []modelEntry{{s.alias, "model", "1bit", string(b.plan.Device)}},
	})
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
