// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"os"
	"strings"
)

// Limits that apply when a Request states none, in bytes.
const (
	DefaultMemory = 64 << 20 // for Get
	DefaultFile   = 64 << 30 // for ToFile
)

// A Request says what to download and what it must be.
type Request struct {
	URL    string
	Accept string      // the Accept header; "*/*" when empty
	Header http.Header // further headers; they go to the URL's own origin only

	// Credentials returns headers (Authorization, say) for a host. It is asked
	// for the URL's own origin only, and never again after a redirect left it.
	Credentials func(host string) http.Header

	Mapped  bool  // the user mapped this URL: its host may be local
	MaxSize int64 // bytes; 0 means the default limit
	Expect  Expect

	HTML        bool // a web page is what is wanted (an index)
	RefuseMoved bool // a permanent redirect is the error Moved

	// Progress is called after each piece with bytes done and in all (-1 when
	// not known), from the goroutine that downloads; done may fall when a
	// download starts anew.
	Progress func(done, total int64)
}

// Expect is what a file must be. The zero value expects nothing.
type Expect struct {
	Size   int64  // bytes; 0 when not known
	SHA256 string // 64 hex digits; "" when not known

	// Hash and Sum are another hash and its value in hex (an npm sha512, the
	// sha1 of a git blob with its header written beforehand). Both or neither.
	Hash func() hash.Hash
	Sum  string
}

func (e Expect) summed() bool { return e.SHA256 != "" || e.Hash != nil }

func (e Expect) validate() error {
	if e.Size < 0 {
		return errors.New("httpget: an expected size is not negative")
	}
	if b, err := hex.DecodeString(e.SHA256); err != nil || len(b) != 0 && len(b) != sha256.Size {
		return errors.New("httpget: an expected sha256 has 64 hexadecimal digits")
	}
	if (e.Hash == nil) != (e.Sum == "") {
		return errors.New("httpget: another hash and its sum are given together")
	}
	return nil
}

// A Redirect is one step that a server asked for; URLs are masked.
type Redirect struct {
	Status   int
	From, To string
}

// Permanent reports whether the old address is given up (301, 308).
func (r Redirect) Permanent() bool { return r.Status == 301 || r.Status == 308 }

// A Response is what was downloaded.
type Response struct {
	Body        []byte // of Get; nil for ToFile
	Size        int64  // bytes
	SHA256      string
	Header      http.Header // of the last answer
	URL         string      // where the answer came from, not masked
	Redirects   []Redirect
	Resumed     int64 // bytes that an earlier try had left
	NotModified bool  // 304 to a condition in Request.Header; no body
}

// Moved returns the first permanent redirect on the way.
func (r *Response) Moved() (Redirect, bool) {
	for _, h := range r.Redirects {
		if h.Permanent() {
			return h, true
		}
	}
	return Redirect{}, false
}

// sums hashes content while it passes.
type sums struct {
	n     int64
	head  []byte // the first bytes, to tell pointers and web pages
	sha   hash.Hash
	other hash.Hash
}

const headSize = 512

func newSums(e Expect) *sums {
	s := &sums{sha: sha256.New()}
	if e.Hash != nil {
		s.other = e.Hash()
	}
	return s
}

func (s *sums) Write(p []byte) (int, error) {
	if room := headSize - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(room, len(p))]...)
	}
	s.n += int64(len(p))
	s.sha.Write(p)
	if s.other != nil {
		s.other.Write(p)
	}
	return len(p), nil
}

func (s *sums) sha256() string { return hex.EncodeToString(s.sha.Sum(nil)) }

// check holds what passed against what was expected; url is masked.
func (s *sums) check(url string, req *Request) error {
	e := req.Expect
	if e.Size > 0 && s.n != e.Size {
		return s.name(url, req, &SizeMismatch{URL: url, Want: e.Size, Got: s.n})
	}
	if got := s.sha256(); e.SHA256 != "" && !strings.EqualFold(got, e.SHA256) {
		return s.name(url, req, &SumMismatch{URL: url, Want: "sha256:" + strings.ToLower(e.SHA256), Got: "sha256:" + got})
	}
	if s.other != nil {
		if got := hex.EncodeToString(s.other.Sum(nil)); !strings.EqualFold(got, e.Sum) {
			return s.name(url, req, &SumMismatch{URL: url, Want: strings.ToLower(e.Sum), Got: got})
		}
	}
	if e.summed() {
		return nil // it is what it must be, whatever it looks like
	}
	return s.name(url, req, nil)
}

// name replaces err by a better one when the content tells what it is.
func (s *sums) name(url string, req *Request, err error) error {
	if s.n < 1024 && bytes.HasPrefix(s.head, []byte("version https://git-lfs.github.com/spec/")) {
		return &LFSPointer{URL: url}
	}
	start := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(s.head, []byte("\xef\xbb\xbf")), " \t\r\n"))
	if !req.HTML && (bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))) {
		return &HTMLAnswer{URL: url}
	}
	return err
}

// Check reads the file at path and holds it against e; it is nil when the file
// is there and right, an fs.ErrNotExist when it is not there.
func Check(path string, e Expect) error {
	if err := e.validate(); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := newSums(e)
	if _, err := io.Copy(s, f); err != nil {
		return &LocalError{Path: path, Err: err}
	}
	return s.check(path, &Request{Expect: e, HTML: true})
}
