// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func TestToFileKeepsTheOldFileUntilTheNewOneIsRight(t *testing.T) {
	good := payload(300_000)
	lfs := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + sha(good) + "\nsize 300000\n")
	page := []byte("<!DOCTYPE html><html><title>Sign in</title></html>")
	expect := Expect{Size: int64(len(good)), SHA256: sha(good)}
	sum512 := sha512.Sum512(good)
	for _, c := range []struct {
		name   string
		body   []byte
		expect Expect
		want   func(error) bool
	}{
		{"right", good, expect, nil},
		{"right, size only", good, Expect{Size: expect.Size}, nil},
		{"right, another hash", good, Expect{Hash: sha512.New, Sum: hex.EncodeToString(sum512[:])}, nil},
		{"another hash is wrong", good[1:], Expect{Hash: sha512.New, Sum: hex.EncodeToString(sum512[:])}, is[*SumMismatch]},
		{"baml#4425: re-uploaded", append([]byte("x"), good[1:]...), expect, is[*SumMismatch]},
		{"too short", good[:200_000], expect, is[*SizeMismatch]},
		{"too long", append(good, 'x'), expect, is[*SizeMismatch]},
		{"empty", nil, expect, is[*SizeMismatch]},
		{"huggingface_hub#3643: LFS pointer", lfs, expect, is[*LFSPointer]},
		{"LFS pointer, nothing expected", lfs, Expect{}, is[*LFSPointer]},
		{"LFS pointer is what is locked", lfs, Expect{SHA256: sha(lfs)}, nil},
		{"web page", page, expect, is[*HTMLAnswer]},
		{"web page longer than the file", page, Expect{Size: 5}, is[*HTMLAnswer]},
		{"web page, sum only", page, Expect{SHA256: sha(good)}, is[*HTMLAnswer]},
		{"web page, nothing expected", page, Expect{}, is[*HTMLAnswer]},
	} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/chunked=%v", c.name, chunked), func(t *testing.T) {
				at := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if chunked {
						w.(http.Flusher).Flush()
					} else {
						w.Header().Set("Content-Length", strconv.Itoa(len(c.body)))
					}
					w.Write(c.body)
				})
				path := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				cl, _ := client(t)
				_, err := cl.ToFile(t.Context(), Request{URL: at, Mapped: true, Expect: c.expect}, path)
				want := []byte("old")
				if c.want == nil {
					want = c.body
				}
				if err != nil && c.want == nil || c.want != nil && !c.want(err) {
					t.Errorf("error %v (%T)", err, err)
				}
				if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
					t.Errorf("the file has %d bytes, want %d", len(got), len(want))
				}
				entries, _ := os.ReadDir(filepath.Dir(path))
				if len(entries) != 1 {
					t.Errorf("left behind: %v", entries)
				}
				if c.want != nil && verdict.Of(err) != verdict.Fail {
					t.Errorf("verdict %s", verdict.Of(err))
				}
			})
		}
	}
}

// ranged serves body with ranges and an ETag, and breaks off the first answer.
type ranged struct {
	body     []byte
	tag      string
	breakAt  int // how much the first answer brings
	requests []http.Header
	as       func(w http.ResponseWriter, r *http.Request) bool // replaces the answer to a range request
}

func (s *ranged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.Header.Clone())
	if r.Header.Get("Range") != "" && s.as != nil && s.as(w, r) {
		return
	}
	w.Header().Set("Etag", s.tag)
	if s.breakAt > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(s.body)))
		w.Write(s.body[:s.breakAt])
		s.breakAt = 0
		panic(http.ErrAbortHandler)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body))
}

// modelscope_hub#50: what a server may answer to a request for the rest.
func TestABrokenDownloadGoesOn(t *testing.T) {
	body := payload(500_000)
	answer := func(code int, contentRange string, body []byte) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if contentRange != "" {
				w.Header().Set("Content-Range", contentRange)
			}
			w.WriteHeader(code)
			w.Write(body)
			return true
		}
	}
	for _, c := range []struct {
		name     string
		as       func(http.ResponseWriter, *http.Request) bool
		requests int
	}{
		{"continues", nil, 2},
		{"200 to a range request", answer(200, "", body), 2},
		{"206 from another offset", answer(206, "bytes 100-499999/500000", body[100:]), 3},
		{"206 of another size", answer(206, "bytes 262144-499999/600000", body[262144:]), 3},
		{"206 without Content-Range", answer(206, "", body[262144:]), 3},
		{"416", answer(416, "bytes */500000", nil), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &ranged{body: body, tag: `"one"`, breakAt: 262144, as: c.as}
			if c.as != nil {
				once := c.as
				s.as = func(w http.ResponseWriter, r *http.Request) bool { s.as = nil; return once(w, r) }
			}
			at := serve(t, s.ServeHTTP)
			path := filepath.Join(t.TempDir(), "file")
			cl, _ := client(t)
			var last int64
			resp, err := cl.ToFile(t.Context(), Request{URL: at, Mapped: true, Expect: Expect{Size: 500_000, SHA256: sha(body)},
				Progress: func(done, _ int64) { last = done }}, path)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, body) || resp.SHA256 != sha(body) || last != 500_000 {
				t.Errorf("%d bytes, sum %s, progress %d", len(got), resp.SHA256, last)
			}
			if len(s.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(s.requests), c.requests)
			}
			if got := s.requests[1].Get("Range"); !strings.HasPrefix(got, "bytes=") || s.requests[1].Get("If-Range") != `"one"` {
				t.Errorf("asked again with %v", s.requests[1])
			}
		})
	}
}

func TestKilledHalfWayTheNextRunGoesOn(t *testing.T) {
	body, other := payload(400_000), bytes.Repeat([]byte("new "), 100_000)
	for _, c := range []struct {
		name    string
		now     []byte // what the server has when it is asked again
		tag     string
		expect  Expect
		resumed bool
	}{
		{"same file", body, `"one"`, Expect{SHA256: sha(body)}, true},
		{"same file, no sum", body, `"one"`, Expect{}, true},
		{"server restarted with other content", other, `"two"`, Expect{}, false},
		{"other content under the same tag, the sum decides", other, `"one"`, Expect{SHA256: sha(other)}, false},
		{"no tag at all, the sum decides", body, "", Expect{SHA256: sha(body)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tag := `"one"`
			if c.tag == "" {
				tag = ""
			}
			s := &ranged{body: body, tag: tag}
			ctx, cancel := context.WithCancelCause(t.Context())
			killed := errors.New("killed")
			cut := s.body
			at := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if ctx.Err() == nil {
					w.Header().Set("Etag", s.tag)
					w.Header().Set("Content-Length", strconv.Itoa(len(cut)))
					w.Write(cut[:200_000])
					w.(http.Flusher).Flush()
					<-r.Context().Done()
					return
				}
				s.ServeHTTP(w, r)
			})
			path := filepath.Join(t.TempDir(), "file")
			cl, _ := client(t)
			req := Request{URL: at, Mapped: true, Expect: c.expect}
			req.Progress = func(done, total int64) {
				if done == 200_000 {
					cancel(killed)
				}
			}
			_, err := cl.ToFile(ctx, req, path)
			if !errors.Is(err, killed) {
				t.Fatalf("error %v", err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Fatal("there is a file already")
			}
			s.body, s.tag, req.Progress = c.now, c.tag, nil
			resp, err := cl.ToFile(t.Context(), req, path)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, c.now) {
				t.Error("the content is not the server's")
			}
			if (resp.Resumed > 0) != c.resumed {
				t.Errorf("resumed %d", resp.Resumed)
			}
		})
	}
}

func TestTwoDownloadsOfOneFile(t *testing.T) {
	body := payload(100_000)
	both, release := make(chan bool, 2), make(chan bool)
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		both <- true
		<-release
		w.Write(body)
	})
	path := filepath.Join(t.TempDir(), "file")
	cl, _ := client(t)
	errs := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := cl.ToFile(t.Context(), Request{URL: at, Mapped: true, Expect: Expect{SHA256: sha(body)}}, path)
			errs <- err
		}()
	}
	<-both
	<-both
	close(release)
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	if err := Check(path, Expect{SHA256: sha(body)}); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestAFullDiskIsOneSentence(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	f, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("cannot open /dev/full: %v", err)
	}
	defer f.Close()
	p := &part{path: "models/x.gguf", file: f, req: &Request{}, sum: newSums(Expect{})}
	_, err = p.Write([]byte("x"))
	if !errors.Is(err, syscall.ENOSPC) || verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "models/x.gguf: the disk is full") {
		t.Errorf("error %v", err)
	}
}
