// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gittest

import (
	"context"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// ServerOptions say how a Server behaves. The zero value is a host as large
// ones are: filters on, any commit by its id, no password.
type ServerOptions struct {
	NoFilter  bool              // filters are ignored
	NoAnySHA1 bool              // protocol 0, and only ids that a ref holds are given out
	Password  string            // basic authentication; any user
	Redirect  map[string]string // "/old.git" → "/new.git" or a whole address: answers 301
	Status    int               // answers this to everything
	Delay     time.Duration     // before every answer
	CutAfter  int64             // breaks off the body of an upload-pack answer after so many bytes; 0 never
	ReadOnly  bool              // pushes are forbidden
}

// A Server serves the repositories of one folder over HTTP.
type Server struct {
	URL      string       // without a slash at its end
	Requests atomic.Int64 // so far
	Leaked   atomic.Int64 // requests with an Authorization header though no password is set
}

// Remote returns the address of a repository, such as "repo.git".
func (s *Server) Remote(name string) git.Remote {
	return git.Remote{URL: s.URL + "/" + name, Allow: []string{"http"}}
}

// Serve serves the folder until the test ends. With the Repo of New, it is
// filepath.Dir(repo.Dir()), and the name is repo.git.
func Serve(t testing.TB, dir string, o ServerOptions) *Server {
	t.Helper()
	backend := git.Command("", "http-backend")
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{}
	bit := func(off bool) string {
		if off {
			return "false"
		}
		return "true"
	}
	// A file, because git ignores some of these settings in the environment
	// of the command behind the backend.
	config := filepath.Join(t.TempDir(), "config")
	text := "[safe]\n\tdirectory = *\n[uploadpack]\n\tallowFilter = " + bit(o.NoFilter) +
		"\n\tallowAnySHA1InWant = " + bit(o.NoAnySHA1) + "\n[http]\n\treceivepack = " + bit(o.ReadOnly) + "\n[receive]\n\tautogc = false\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + config, "HOME=/nonexistent", "LC_ALL=C"}
	handler := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s.Requests.Add(1)
		time.Sleep(o.Delay)
		if o.Status != 0 {
			w.WriteHeader(o.Status)
			return
		}
		for from, to := range o.Redirect {
			if rest, ok := strings.CutPrefix(q.URL.Path, from+"/"); ok {
				http.Redirect(w, q, to+"/"+rest+"?"+q.URL.RawQuery, http.StatusMovedPermanently)
				return
			}
		}
		_, password, given := q.BasicAuth()
		if o.Password == "" && given {
			s.Leaked.Add(1)
		}
		if o.Password != "" && password != o.Password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if o.NoAnySHA1 {
			// Protocol 2 gives out every object that it has.
			q.Header.Del("Git-Protocol")
		}
		cgiEnv := env
		if o.Password != "" {
			cgiEnv = append(cgiEnv[:len(cgiEnv):len(cgiEnv)], "REMOTE_USER=test")
		}
		if q.ContentLength < 0 {
			// The backend reads until a length that chunked requests lack.
			body, err := io.ReadAll(io.LimitReader(q.Body, 64<<20))
			if err != nil {
				return
			}
			q.Body, q.ContentLength, q.TransferEncoding = io.NopCloser(strings.NewReader(string(body))), int64(len(body)), nil
		}
		h := &cgi.Handler{Path: path, Args: backend.Args, Env: cgiEnv, InheritEnv: []string{"PATH"}, Stderr: io.Discard}
		if o.CutAfter > 0 && strings.HasSuffix(q.URL.Path, "git-upload-pack") {
			w = &cut{ResponseWriter: w, left: o.CutAfter}
		}
		h.ServeHTTP(w, q)
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// cut lets so many bytes through and then drops the connection.
type cut struct {
	http.ResponseWriter
	left int64
}

func (c *cut) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= int64(len(p))
	return c.ResponseWriter.Write(p)
}

// AskingProxy returns the address of a proxy that wants a password: it answers
// 407 to everything.
func AskingProxy(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// ClosedPort returns an address where nothing listens.
func ClosedPort(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL
}

// Catch opens a CatFile that ends with the test.
func (r *Repo) Catch() *git.CatFile {
	r.t.Helper()
	c, err := r.CatFile(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}
