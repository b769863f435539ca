// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/engine/route"
)

// Limits of one request's and one buffered reply's body, in bytes. Images come
// inside the request.
const (
	requestLimit = 64 << 20
	replyLimit   = 64 << 20
)

// bodyLimit is how long a request's body may take: 64 MiB at 2 Mbit/s.
const bodyLimit = 5 * time.Minute

// takeBody reads a request's body, or answers why it can not be taken.
func takeBody(w http.ResponseWriter, r *http.Request, f route.Forward) ([]byte, bool) {
	body, err := readBody(w, r, bodyLimit)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		sendError(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "request body is too large")
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		sendError(w, http.StatusRequestTimeout, "invalid_request_error", "request body did not arrive in time")
	case err != nil: // the client is gone
	case f.JSON && !json.Valid(body):
		sendError(w, http.StatusBadRequest, "invalid_request_error", "request body is not JSON")
	default:
		return body, true
	}
	return nil, false
}

// forward passes a request on and its reply back. A reply in JSON gets our
// name of the model; a stream is passed on as it comes, byte for byte. note is
// for the header that says how the request was routed.
func (u *unit) forward(w http.ResponseWriter, r *http.Request, f route.Forward, body []byte, alias, note string) {
	t := u.target.Load()
	url := t.base + r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		url += "?" + r.URL.RawQuery
	}
	if f.JSON {
		body = renameRequest(body, u.plan.Rename)
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, url, bytes.NewReader(body))
	if err != nil {
		sendError(w, http.StatusBadRequest, "invalid_request_error", "the path of the request can not be passed on")
		return
	}
	copyHeader(req.Header, r.Header)
	if t.key != "" {
		req.Header.Set("Authorization", "Bearer "+t.key)
	}
	resp, err := u.client.Do(req)
	if err != nil {
		if r.Context().Err() == nil {
			noAnswer(w)
		}
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 { // 101 would never end, and what is below 100 can not be said
		noAnswer(w)
		return
	}
	if note != "" {
		w.Header().Set(routeHeader, note)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if f.JSON && kind == "application/json" {
		sendRenamed(w, resp, alias)
		return
	}
	relay(w, resp)
}

// renameRequest does to the model's name in a request what its device needs.
func renameRequest(body []byte, r route.Rename) []byte {
	if !r.Drop && r.To == "" {
		return body
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || object == nil {
		return body
	}
	delete(object, "model")
	if r.To != "" {
		name, err := json.Marshal(r.To)
		if err != nil {
			return body
		}
		object["model"] = name
	}
	changed, err := json.Marshal(object)
	if err != nil {
		return body
	}
	return changed
}

// readBody reads a request's body. One that says at once that it is too large
// is not waited for, and a client who does not send what it announced is not
// waited for without end.
func readBody(w http.ResponseWriter, r *http.Request, within time.Duration) ([]byte, error) {
	if r.ContentLength > requestLimit {
		w.Header().Set("Connection", "close")
		return nil, &http.MaxBytesError{Limit: requestLimit}
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(within))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestLimit))
	if err == nil {
		control.SetReadDeadline(time.Time{}) // an answer may take long
	}
	return body, err
}

func noAnswer(w http.ResponseWriter) {
	sendError(w, http.StatusBadGateway, "bad_gateway", "backend did not answer")
}

// sendRenamed passes on a whole reply in JSON under our name of the model.
func sendRenamed(w http.ResponseWriter, resp *http.Response, alias string) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, replyLimit+1))
	if err != nil || len(body) > replyLimit {
		noAnswer(w)
		return
	}
	copyHeader(w.Header(), resp.Header)
	w.Header().Del("Content-Length")
	w.WriteHeader(resp.StatusCode)
	w.Write(renameModel(body, alias))
}

// relay passes on a reply as it comes.
func relay(w http.ResponseWriter, resp *http.Response) {
	copyHeader(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	control := http.NewResponseController(w)
	control.Flush() // the client sees that it began
	buf := make([]byte, 16<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return // the client is gone
			}
			control.Flush()
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client must see that it is not whole
		}
	}
}

// copyHeader copies headers that concern both ends. What one connection needs,
// who asked, and the backend's opinion of other sites stay behind.
func copyHeader(to, from http.Header) {
	named := map[string]bool{}
	for _, v := range from.Values("Connection") {
		for name := range strings.SplitSeq(v, ",") {
			named[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	for name, values := range from {
		switch name {
		case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
			"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Accept-Encoding",
			"Origin", "Referer", "Cookie", "Set-Cookie", "Server", routeHeader:
			continue
		}
		if named[name] || strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "Sec-") {
			continue
		}
		to[name] = append([]string(nil), values...)
	}
}

// renameModel returns a JSON object with the string at its key "model"
// replaced by alias, every other byte as it was. What is no such object is
// returned unchanged.
func renameModel(body []byte, alias string) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return body
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return body
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return body
		}
		if key == "model" && value[0] == '"' {
			end := dec.InputOffset()
			name, err := json.Marshal(alias)
			if err != nil {
				return body
			}
			out := append([]byte(nil), body[:end-int64(len(value))]...)
			return append(append(out, name...), body[end:]...)
		}
	}
	return body
}
