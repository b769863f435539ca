// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A sink keeps what arrives: memory, or a file that may have begun earlier.
type sink interface {
	io.Writer
	have() int64                           // bytes kept so far
	validator() string                     // for If-Range; "" when there is none
	restart() error                        // forget everything
	begin(url string, h http.Header) error // an answer from byte 0 comes
	content() *sums                        // of what is kept
	same(url string, h http.Header) bool   // a 206 is of the same file
}

// Get downloads into memory.
func (c *Client) Get(ctx context.Context, req Request) (*Response, error) {
	if req.MaxSize == 0 {
		req.MaxSize = DefaultMemory
	}
	m := &memory{expect: req.Expect}
	m.restart()
	resp, err := c.download(ctx, &req, m)
	if err != nil {
		return nil, err
	}
	resp.Body = m.body
	return resp, nil
}

// memory is a sink that never resumes.
type memory struct {
	body   []byte
	sum    *sums
	expect Expect
}

func (m *memory) Write(p []byte) (int, error)     { m.body = append(m.body, p...); return m.sum.Write(p) }
func (m *memory) have() int64                     { return 0 }
func (m *memory) validator() string               { return "" }
func (m *memory) restart() error                  { m.body, m.sum = nil, newSums(m.expect); return nil }
func (m *memory) content() *sums                  { return m.sum }
func (m *memory) same(string, http.Header) bool   { return true }
func (m *memory) begin(string, http.Header) error { return m.restart() }

// download tries until the content is right, wrong, or no attempt is left.
func (c *Client) download(ctx context.Context, req *Request, s sink) (*Response, error) {
	if err := req.Expect.validate(); err != nil {
		return nil, err
	}
	if req.MaxSize < 0 {
		return nil, errors.New("httpget: a size limit is not negative")
	}
	if req.Expect.Size > req.MaxSize {
		return nil, &TooLarge{URL: Mask(req.URL), Limit: req.MaxSize}
	}
	left := s.have()
	again := left > 0 // a wrong result may come from what an earlier run left
	for failed := 0; ; {
		before := s.have()
		resp, err := c.attempt(ctx, req, s)
		if err == nil && !resp.NotModified {
			err = s.content().check(Mask(resp.URL), req)
		}
		if err == nil {
			resp.Size, resp.SHA256 = s.content().n, s.content().sha256()
			if resp.Resumed > 0 {
				resp.Resumed = min(resp.Resumed, left)
			}
			return resp, nil
		}
		var r *retry
		if !errors.As(err, &r) {
			if again && mismatch(err) {
				again, left = false, 0
				if err := s.restart(); err != nil {
					return nil, err
				}
				continue
			}
			return nil, err
		}
		if s.have()-before >= 1<<20 {
			failed = 0
		}
		if failed++; failed >= c.attempts {
			return nil, r.err
		}
		wait := r.wait
		if wait == 0 {
			wait = min(c.waitCap, 30*time.Second, 500*time.Millisecond<<min(failed-1, 10))
		}
		if err := c.sleep(ctx, min(c.jitter(wait)+r.wait/2, c.waitCap)); err != nil {
			return nil, fmt.Errorf("%s: %w", Mask(req.URL), err)
		}
	}
}

// mismatch reports whether err says that content is wrong.
func mismatch(err error) bool {
	var sum *SumMismatch
	var size *SizeMismatch
	var lfs *LFSPointer
	var html *HTMLAnswer
	return errors.As(err, &sum) || errors.As(err, &size) || errors.As(err, &lfs) || errors.As(err, &html)
}

// attempt asks once and reads the body into s.
func (c *Client) attempt(ctx context.Context, req *Request, s sink) (*Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	at, extra := s.have(), http.Header{}
	if v := s.validator(); at > 0 && (v != "" || req.Expect.summed()) {
		extra.Set("Range", fmt.Sprintf("bytes=%d-", at))
		if v != "" {
			extra.Set("If-Range", v)
		}
	} else {
		at = 0
	}
	a, err := c.ask(ctx, req, extra)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	masked := Mask(a.url.String())
	resp := &Response{Header: a.Header, URL: a.url.String(), Redirects: a.hops}
	if err := c.status(a); err != nil {
		return nil, err
	}
	total := int64(-1)
	switch a.StatusCode {
	case 304:
		resp.NotModified = true
		return resp, nil
	case 416:
		if at == 0 {
			return nil, &Status{URL: masked, Code: 416}
		}
		if _, size, ok := contentRange(a.Header); ok && size == at && req.Expect.summed() {
			resp.Resumed = at
			return resp, nil // all was there; the sum decides
		}
		return nil, again(s, masked, "the server does not know the range that is missing")
	case 206:
		start, size, ok := contentRange(a.Header)
		if at == 0 || !ok || start != at || req.Expect.Size > 0 && size >= 0 && size != req.Expect.Size || !s.same(a.url.String(), a.Header) {
			return nil, again(s, masked, "the server sent another range than was asked for")
		}
		total, resp.Resumed = size, at
	case 200:
		at = 0
		if err := s.begin(a.url.String(), a.Header); err != nil {
			return nil, err
		}
		total = a.ContentLength
	}
	if enc := a.Header.Get("Content-Encoding"); enc != "" && enc != "identity" && !req.Expect.summed() {
		return nil, &Encoded{URL: masked, Encoding: strconv.QuoteToASCII(enc)}
	}
	return resp, c.read(ctx, cancel, req, s, a, at, total, masked)
}

// again forgets what s has, so that the next attempt starts from the beginning.
func again(s sink, masked, why string) error {
	if err := s.restart(); err != nil {
		return err
	}
	return &retry{err: &Unreachable{URL: masked, Err: errors.New(why)}}
}

// small is the size up to which a wrong length is read all the same, to name
// what came instead.
const small = 64 << 10

// read copies a body into s, within the limits.
func (c *Client) read(ctx context.Context, cancel context.CancelCauseFunc, req *Request, s sink, a *answer, at, total int64, masked string) error {
	want := req.Expect.Size
	if total > req.MaxSize {
		return &TooLarge{URL: masked, Limit: req.MaxSize}
	}
	if want > 0 && total > small && total != want {
		return &SizeMismatch{URL: masked, Want: want, Got: total}
	}
	bound := req.MaxSize
	if want > 0 {
		bound = max(want, min(small, req.MaxSize))
	}
	w := newWatch(c.stall, cancel)
	defer w.stop()
	buf := make([]byte, 128<<10)
	for {
		n, err := a.Body.Read(buf)
		w.alive()
		if n > 0 {
			if at+int64(n) > bound {
				if want > 0 {
					return s.content().name(masked, req, &SizeMismatch{URL: masked, Want: want, Got: at + int64(n), More: true})
				}
				return &TooLarge{URL: masked, Limit: req.MaxSize}
			}
			if _, werr := s.Write(buf[:n]); werr != nil {
				return werr
			}
			at += int64(n)
			if req.Progress != nil {
				req.Progress(at, total)
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err == nil:
		case errors.Is(context.Cause(ctx), errStalled):
			return &retry{err: &Unreachable{URL: masked, Err: errStalled}}
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", masked, context.Cause(ctx))
		default:
			return &retry{err: &Unreachable{URL: masked, Err: fmt.Errorf("broke off after %d bytes: %w", at, err)}}
		}
	}
}

// contentRange reads "bytes 5-9/10" or "bytes */10": the first byte (0 for *)
// and the size of the whole, -1 when not known.
func contentRange(h http.Header) (start, size int64, ok bool) {
	v, found := strings.CutPrefix(h.Get("Content-Range"), "bytes ")
	span, whole, cut := strings.Cut(v, "/")
	if !found || !cut {
		return 0, 0, false
	}
	size = -1
	if whole != "*" {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || n < 0 {
			return 0, 0, false
		}
		size = n
	}
	if span == "*" {
		return 0, size, true
	}
	from, to, cut := strings.Cut(span, "-")
	start, err1 := strconv.ParseInt(from, 10, 64)
	end, err2 := strconv.ParseInt(to, 10, 64)
	return start, size, cut && err1 == nil && err2 == nil && start >= 0 && end >= start && (size < 0 || end < size)
}
