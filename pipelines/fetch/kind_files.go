// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A download is one file to bring into the store.
type download struct {
	name   string // for people
	url    string // as locked; the mirrors may map it
	place  *Place // where it is read; nil: where the mirrors have url
	expect httpget.Expect
	auth   func(host string) http.Header
}

// A Replaced says that a file has other content than was locked under the same
// name and version (BoundaryML/baml#4425, openucx/ucx#8810). The old file is
// kept.
type Replaced struct {
	Name, Version string
	Old, New      string // sha256: and 64 hex digits
}

func (e *Replaced) Error() string {
	return "the file " + inert.Quote(e.Name, 200) + " of " + inert.Line(e.Version, 100) + " was replaced upstream: " + e.Old +
		" is locked, " + e.New + " is there now; the old file is kept, ask the upstream why, and reject that version if there is no good answer"
}

// Unwrap tells it as what it is, a wrong sum.
func (e *Replaced) Unwrap() error { return &httpget.SumMismatch{URL: e.Name, Want: e.Old, Got: e.New} }

// checkReplaced holds what is there now against the lock.
func checkReplaced(p *pins.Pin, version string, now []pins.File) error {
	if p.Lock == nil || p.Lock.Version != version {
		return nil
	}
	for _, old := range p.Lock.Files {
		for _, f := range now {
			if f.Name == old.Name && f.Platform == old.Platform && f.SHA256 != "" && !strings.EqualFold(f.SHA256, old.SHA256) {
				return &Replaced{Name: f.Name, Version: version, Old: "sha256:" + old.SHA256, New: "sha256:" + strings.ToLower(f.SHA256)}
			}
		}
	}
	return nil
}

// get asks for something small: at its address, or where a mirror has it, which
// may be a file on this machine.
func (e *Engine) get(ctx context.Context, address string, change func(*httpget.Request)) (*httpget.Response, string, error) {
	return e.getFrom(ctx, e.Mirrors.Place(address), address, change)
}

func (e *Engine) getFrom(ctx context.Context, place Place, address string, change func(*httpget.Request)) (*httpget.Response, string, error) {
	req := httpget.Request{URL: place.URL, Mapped: place.Mapped, MaxSize: maxIndex}
	if change != nil {
		change(&req)
	}
	if place.Local() {
		f, err := os.Open(place.URL)
		if err != nil {
			return nil, "", verdict.Infraf("the mirror of %s: %w", shown(address), err)
		}
		defer f.Close()
		body, err := io.ReadAll(io.LimitReader(f, req.MaxSize+1))
		if err == nil && int64(len(body)) > req.MaxSize {
			err = &httpget.TooLarge{URL: place.URL, Limit: req.MaxSize}
		}
		return &httpget.Response{Body: body, URL: place.URL, Header: http.Header{}}, place.StandsIn, err
	}
	resp, err := e.HTTP.Get(ctx, req)
	return resp, place.StandsIn, explainHTTP(err)
}

// file returns the store's entry of one file; where it is absent the file is
// downloaded, or what an earlier run left of it continued, and checked. With a
// known sum there is no network when the file is there. standsIn is not empty
// where a mirror gave it.
func (e *Engine) file(ctx context.Context, d download) (entry *store.Entry, standsIn string, err error) {
	if d.expect.SHA256 != "" {
		key, err := store.KeyOf("sha256:" + strings.ToLower(d.expect.SHA256))
		if err != nil {
			return nil, "", err
		}
		entry, err = e.Store.Put(ctx, key, store.Maker{Kind: "file", Name: d.name, Fill: func(ctx context.Context, path string) error {
			part, s, err := e.download(ctx, d)
			if err != nil {
				return err
			}
			standsIn = s
			return moveFile(part, path)
		}})
		return entry, standsIn, err
	}
	// The sum is not known beforehand, so the file is downloaded each time and
	// its content decides which entry it is.
	part, standsIn, err := e.download(ctx, d)
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(part)
	if err := refusePointer(part, d.name); err != nil {
		return nil, "", err
	}
	sum, err := sumFile(part)
	if err != nil {
		return nil, "", err
	}
	key, err := store.KeyOf("sha256:" + sum)
	if err != nil {
		return nil, "", err
	}
	entry, err = e.Store.Put(ctx, key, store.Maker{Kind: "file", Name: d.name, Fill: func(_ context.Context, path string) error {
		return moveFile(part, path)
	}})
	return entry, standsIn, err
}

// download brings a file into the cache's folder of downloads, where a broken
// one is continued by the next run.
func (e *Engine) download(ctx context.Context, d download) (path, standsIn string, err error) {
	if err := e.online(d.name); err != nil {
		return "", "", err
	}
	if d.url == "" && d.place == nil {
		return "", "", verdict.Infraf("%s is not in the store, and the lock has no address for it", d.name)
	}
	dir, err := e.cache("downloads")
	if err != nil {
		return "", "", err
	}
	id := sha256.Sum256([]byte(d.url + "\x00" + d.expect.SHA256 + d.expect.Sum))
	path = filepath.Join(dir, hex.EncodeToString(id[:]))
	place := e.Mirrors.Place(d.url)
	if d.place != nil {
		place = *d.place
	}
	if place.Local() {
		return path, place.StandsIn, copyMirrored(place.URL, path, d.expect)
	}
	bar := e.Progress.Bytes(inert.Line(d.name, 80), max(d.expect.Size, -1))
	defer bar.Done()
	_, err = e.HTTP.ToFile(ctx, httpget.Request{URL: place.URL, Mapped: place.Mapped, Expect: d.expect, Credentials: d.auth, Progress: bar.Set}, path)
	return path, place.StandsIn, explainHTTP(err)
}

// copyMirrored copies a file of a mirror on this machine, and keeps it only when it
// is what is expected.
func copyMirrored(from, to string, want httpget.Expect) error {
	in, err := os.Open(from)
	if err != nil {
		return verdict.Infraf("the mirror's file: %w", err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = httpget.Check(to, want)
	}
	if err != nil {
		os.Remove(to)
	}
	return err
}

// moveFile moves a file, to another disk too.
func moveFile(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := copyMirrored(from, to, httpget.Expect{}); err != nil {
		return err
	}
	return os.Remove(from)
}

// refusePointer refuses a Git LFS pointer, which has the right sum where a
// repository was filled without LFS.
func refusePointer(file, name string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 64))
	if err == nil && strings.HasPrefix(string(head), "version https://git-lfs.github.com/spec/") {
		return &httpget.LFSPointer{URL: inert.Line(name, 200)}
	}
	return err
}

func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lockFiles brings files into the store and completes their sums and sizes; of
// returns how each is downloaded. The order stays.
func (e *Engine) lockFiles(ctx context.Context, files []pins.File, of func(pins.File) download) (locked []pins.File, standsIn string, err error) {
	locked = append(locked, files...)
	stands := make([]string, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.jobs())
	for i := range locked {
		g.Go(func() error {
			entry, s, err := e.file(ctx, of(locked[i]))
			if err != nil {
				return err
			}
			locked[i].SHA256 = strings.TrimPrefix(entry.Sum, "sha256:")
			locked[i].Size, stands[i] = entry.Size, s
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, "", err
	}
	for _, s := range stands {
		if s != "" {
			return locked, s, nil
		}
	}
	return locked, "", nil
}

// fetchFiles brings the locked files into the store.
func (e *Engine) fetchFiles(ctx context.Context, p *pins.Pin, of func(pins.File) download) ([]*store.Entry, error) {
	if p.Lock == nil || len(p.Lock.Files) == 0 {
		return nil, notLocked(p)
	}
	entries := make([]*store.Entry, len(p.Lock.Files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.jobs())
	for i, f := range p.Lock.Files {
		g.Go(func() (err error) {
			if f.SHA256 == "" {
				return notLocked(p)
			}
			entries[i], _, err = e.file(ctx, of(f))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return entries, nil
}

func notLocked(p *pins.Pin) error {
	return verdict.Failf("it is %s: only a verified lock is fetched, run 'dist pins update %s'", p.State(), p.Name)
}

// plainFile is how a file with an address of its own is downloaded.
func plainFile(f pins.File) download {
	return download{name: f.Name, url: f.URL, expect: httpget.Expect{SHA256: f.SHA256, Size: f.Size}}
}

// sameFiles reports whether two lists lock the same content under the same
// names.
func sameFiles(a, b []pins.File) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Platform != b[i].Platform || a[i].Version != b[i].Version || a[i].Path != b[i].Path || a[i].SHA256 != b[i].SHA256 {
			return false
		}
	}
	return true
}

// viaMirror marks a lock that was read through a mirror.
func viaMirror(l *pins.Lock, standsIn string) *pins.Lock {
	if standsIn != "" {
		l.ViaMirror = &pins.ViaMirror{StandsIn: standsIn}
	}
	return l
}

// unchanged returns a copy of the pin's lock.
func unchanged(p *pins.Pin) *pins.Lock {
	l := *p.Lock
	return &l
}

// explainHTTP gives those errors of a download a verdict that are not the
// upstream's fault but this machine's.
func explainHTTP(err error) error {
	var auth *httpget.Unauthorized
	var status *httpget.Status
	switch {
	case errors.As(err, &auth):
		return verdict.Infraf("%w", err)
	case errors.As(err, &status) && status.Code >= 500:
		return verdict.Infraf("%w", err)
	}
	return err
}

// token returns the credentials of a request: the environment's token, for one
// host only.
func token(getenv func(string) string, name string, hosts ...string) func(string) http.Header {
	return func(host string) http.Header {
		value := getenv(name)
		for _, h := range hosts {
			if value != "" && strings.EqualFold(host, h) {
				return http.Header{"Authorization": {"Bearer " + value}}
			}
		}
		return nil
	}
}
