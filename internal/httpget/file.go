// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/filelock"
)

// ToFile downloads to path, by way of path+".part". A broken download is
// continued by the next call; path is replaced, atomically and after an fsync,
// only by content that is what the request expects. Two processes may download
// the same path at once: the second works on a part of its own.
func (c *Client) ToFile(ctx context.Context, req Request, path string) (*Response, error) {
	if req.MaxSize == 0 {
		req.MaxSize = DefaultFile
	}
	if err := req.Expect.validate(); err != nil {
		return nil, err
	}
	p, err := openPart(path, &req)
	if err != nil {
		return nil, err
	}
	defer p.close()
	resp, err := c.download(ctx, &req, p)
	if err != nil {
		if p.have() == 0 || mismatch(err) || !resumable(err) {
			p.remove()
		}
		return nil, err
	}
	if resp.NotModified {
		p.remove()
		return resp, nil
	}
	return resp, p.commit()
}

// resumable reports whether a part is worth keeping after err.
func resumable(err error) bool {
	var large *TooLarge
	var missing *NotFound
	return !errors.As(err, &large) && !errors.As(err, &missing)
}

// meta is what is kept beside a part to know whether it may be continued.
type meta struct {
	URL       string `json:"url"` // masked, of the request
	Validator string `json:"validator,omitempty"`
	Expect    string `json:"expect,omitempty"`
}

// part is a file that is being downloaded.
type part struct {
	path, name string // the file in the end; the part
	file       *os.File
	own        bool // a temporary part that nothing resumes
	sum        *sums
	req        *Request
	meta       meta
}

// openPart opens or makes the part of path and reads what an earlier run left.
func openPart(path string, req *Request) (*part, error) {
	p := &part{path: path, name: path + ".part", req: req, sum: newSums(req.Expect)}
	file, err := os.OpenFile(p.name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &LocalError{Path: p.name, Err: err}
	}
	p.file = file
	if ours, err := filelock.TryFile(file); err != nil || !ours || !p.current() {
		file.Close()
		if p.file, err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*"); err != nil {
			return nil, &LocalError{Path: path, Err: err}
		}
		p.name, p.own = p.file.Name(), true
	}
	want := meta{URL: Mask(req.URL), Expect: req.Expect.SHA256 + req.Expect.Sum}
	b, err := os.ReadFile(p.sidecar())
	if p.own || err != nil || json.Unmarshal(b, &p.meta) != nil || p.meta.URL != want.URL || p.meta.Expect != want.Expect {
		p.meta = want
		return p, p.restart()
	}
	if _, err := io.Copy(p.sum, p.file); err != nil {
		return p, p.restart()
	}
	if p.sum.n > req.MaxSize || req.Expect.Size > 0 && p.sum.n > req.Expect.Size {
		return p, p.restart()
	}
	return p, nil
}

// current reports whether the part that was locked is still the one at its
// name: another process may have made it the file in between.
func (p *part) current() bool {
	mine, err1 := p.file.Stat()
	there, err2 := os.Lstat(p.name)
	return err1 == nil && err2 == nil && os.SameFile(mine, there) && mine.Mode().IsRegular()
}

func (p *part) sidecar() string { return p.name + ".json" }

func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.sum.Write(b[:n])
	if err != nil {
		return n, &LocalError{Path: p.path, Err: err}
	}
	return n, nil
}

func (p *part) have() int64       { return p.sum.n }
func (p *part) validator() string { return p.meta.Validator }
func (p *part) content() *sums    { return p.sum }

func (p *part) restart() error {
	p.sum, p.meta.Validator = newSums(p.req.Expect), ""
	_, err := p.file.Seek(0, io.SeekStart)
	if err := errors.Join(err, p.file.Truncate(0)); err != nil {
		return &LocalError{Path: p.path, Err: err}
	}
	return nil
}

func (p *part) begin(_ string, h http.Header) error {
	if err := p.restart(); err != nil {
		return err
	}
	p.meta.Validator = validatorOf(h)
	if p.own {
		return nil
	}
	b, err := json.Marshal(p.meta)
	if err == nil {
		err = os.WriteFile(p.sidecar(), b, 0o644)
	}
	if err != nil {
		return &LocalError{Path: p.path, Err: err}
	}
	return nil
}

// same reports whether a 206 is of the file that was begun: servers that ignore
// If-Range exist.
func (p *part) same(_ string, h http.Header) bool {
	v := validatorOf(h)
	return p.meta.Validator == "" || v == "" || v == p.meta.Validator
}

// validatorOf returns what If-Range may hold: a strong ETag or a date.
func validatorOf(h http.Header) string {
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return h.Get("Last-Modified")
}

// commit makes the part the file.
func (p *part) commit() error {
	err := p.file.Chmod(0o644)
	if err == nil {
		err = p.file.Sync()
	}
	if err == nil {
		err = os.Rename(p.name, p.path)
	}
	if err != nil {
		return &LocalError{Path: p.path, Err: err}
	}
	if !p.own {
		os.Remove(p.sidecar())
	}
	if err := syncDir(filepath.Dir(p.path)); err != nil {
		return &LocalError{Path: p.path, Err: err}
	}
	return nil
}

func (p *part) remove() {
	os.Remove(p.name)
	if !p.own {
		os.Remove(p.sidecar())
	}
}

func (p *part) close() {
	p.file.Close()
	if p.own {
		os.Remove(p.name) // gone already after a commit
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
