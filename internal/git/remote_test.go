// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func serve(t *testing.T, r *gittest.Repo, o gittest.ServerOptions) *gittest.Server {
	t.Helper()
	return gittest.Serve(t, filepath.Dir(r.Dir()), o)
}

// https://github.com/renovatebot/renovate/issues/41560 and
// https://github.com/zephyrproject-rtos/west/issues/349: ls-remote shows the
// id of the tag object.
func TestLsRemotePeelsTagsInOneQuestion(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := r.Commit("main", "one", gittest.Files{"a": "1\n"})
	tag := r.Annotated("v1.0", "first", c)
	r.Tag("light", c)
	r.Git("update-ref", "refs/x/refs/heads/main", string(c))
	s := serve(t, r, gittest.ServerOptions{})
	for _, patterns := range [][]string{nil, {"refs/heads/main", "refs/tags/*"}} {
		s.Requests.Store(0)
		refs, err := git.LsRemote(t.Context(), s.Remote("repo.git"), patterns...)
		if err != nil {
			t.Fatal(err)
		}
		want := []git.Ref{
			{Name: "refs/heads/main", ID: c},
			{Name: "refs/tags/light", ID: c},
			{Name: "refs/tags/v1.0", ID: tag, Peeled: c},
		}
		if patterns == nil {
			want = append(want, git.Ref{Name: "refs/x/refs/heads/main", ID: c})
		}
		if d := cmp.Diff(git.Refs{Head: "refs/heads/main", All: want}, refs); d != "" {
			t.Errorf("%v: %s", patterns, d)
		}
		// Protocol 2 is a greeting and one question.
		if n := s.Requests.Load(); n != 2 {
			t.Errorf("%v: %d HTTP requests, want 2", patterns, n)
		}
	}
	if ref, ok := (git.Refs{All: []git.Ref{{Name: "refs/tags/v1.0", ID: tag, Peeled: c}}}).Find("refs/tags/v1.0"); !ok || ref.Commit() != c {
		t.Error("Commit is not the peeled id")
	}
}

// https://github.com/H-uru/Plasma/issues/1216
func TestDefaultBranchRenamed(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := r.Commit("trunk", "one", gittest.Files{"a": "1\n"})
	r.DefaultBranch("trunk")
	s := serve(t, r, gittest.ServerOptions{})
	refs, err := git.LsRemote(t.Context(), s.Remote("repo.git"), "refs/heads/main")
	if err != nil || refs.Head != "refs/heads/trunk" || len(refs.All) != 0 {
		t.Fatalf("got %+v, %v", refs, err)
	}
	dst := gittest.New(t)
	err = dst.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Refs: []git.Refspec{{From: "refs/heads/main", To: "refs/upstream/main"}}})
	var gone *git.RefGone
	if !errors.As(err, &gone) || gone.Ref != "refs/heads/main" {
		t.Fatalf("got %v", err)
	}
	if ok, _ := dst.HasCommit(t.Context(), c); ok {
		t.Error("something was fetched all the same")
	}
}

func TestRemoteErrors(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := r.Commit("main", "one", gittest.Files{"a": "1\n"})
	dir := filepath.Dir(r.Dir())
	plain := gittest.Serve(t, dir, gittest.ServerOptions{})
	locked := gittest.Serve(t, dir, gittest.ServerOptions{Password: "sesame"})
	with := func(r git.Remote, password string) git.Remote {
		r.Credential = git.Credential{User: "u", Password: password}
		return r
	}
	status := func(n int) git.Remote {
		return gittest.Serve(t, dir, gittest.ServerOptions{Status: n}).Remote("repo.git")
	}
	closed := git.Remote{URL: gittest.ClosedPort(t) + "/x.git", Allow: []string{"http"}}
	moved := gittest.Serve(t, dir, gittest.ServerOptions{Redirect: map[string]string{"/old.git": "/repo.git"}})
	for _, x := range []struct {
		name   string
		remote git.Remote
		want   any
		says   string
		v      verdict.Verdict
	}{
		{"nothing listens", closed, new(*git.Unreachable), "try again", verdict.Infra},
		{"unknown host", git.Remote{URL: "https://host.invalid/x.git"}, new(*git.Unreachable), "https://host.invalid/x.git", verdict.Infra},
		{"server error", status(503), new(*git.Unreachable), "HTTP status 503", verdict.Infra},
		{"too many requests", status(429), new(*git.Unreachable), "HTTP status 429", verdict.Infra},
		{"missing", plain.Remote("none.git"), new(*git.NotFound), "does not exist", verdict.Fail},
		{"missing folder", git.Remote{URL: dir + "/none.git", Allow: []string{"file"}}, new(*git.NotFound), "does not exist", verdict.Fail},
		{"no credential", locked.Remote("repo.git"), new(*git.AuthRequired), "needs a credential", verdict.Fail},
		{"wrong credential", with(locked.Remote("repo.git"), "wrong-password"), new(*git.AuthRequired), "refused the credential", verdict.Fail},
		{"forbidden", status(403), new(*git.AuthRequired), "needs a credential", verdict.Fail},
		{"renamed", moved.Remote("old.git"), new(*git.Redirected), "has moved to " + moved.URL + "/repo.git", verdict.Fail},
		{"option", git.Remote{URL: "--upload-pack=touch /tmp/x"}, new(*git.BadURL), "refused", verdict.Fail},
		{"program", git.Remote{URL: "ext::sh -c touch% /tmp/x", Allow: []string{"ext"}}, new(*git.BadURL), "refused", verdict.Fail},
		{"program 2", git.Remote{URL: "ext::x", Allow: []string{"ext"}}, new(*git.BadURL), "no https address", verdict.Fail},
		{"http", git.Remote{URL: plain.URL + "/repo.git"}, new(*git.BadURL), "only https", verdict.Fail},
		{"folder", git.Remote{URL: dir + "/repo.git"}, new(*git.BadURL), "only https", verdict.Fail},
		{"file", git.Remote{URL: "file://" + dir + "/repo.git"}, new(*git.BadURL), "only https", verdict.Fail},
		{"ssh option", git.Remote{URL: "ssh://-oProxyCommand=x/y", Allow: []string{"ssh"}}, new(*git.BadURL), "'-'", verdict.Fail},
		{"scp option", git.Remote{URL: "a@-oProxyCommand=x:y", Allow: []string{"ssh"}}, new(*git.BadURL), "'-'", verdict.Fail},
		{"newline", git.Remote{URL: "https://a/b\nc"}, new(*git.BadURL), `\n`, verdict.Fail},
	} {
		t.Run(x.name, func(t *testing.T) {
			dst := gittest.New(t)
			_, err := git.LsRemote(t.Context(), x.remote)
			for _, err := range []error{err, dst.Fetch(t.Context(), x.remote, git.FetchSpec{Commits: []git.ID{c}, Depth: 1})} {
				if !errors.As(err, x.want) {
					t.Fatalf("got %T: %v", err, err)
				}
				if verdict.Of(err) != x.v || !strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("verdict %s: %s", verdict.Of(err), err)
				}
				if strings.Contains(err.Error(), "wrong-password") {
					t.Errorf("the password is in the error: %v", err)
				}
			}
			if refs, _ := dst.ForEachRef(t.Context()); len(refs) != 0 {
				t.Errorf("refs after the error: %v", refs)
			}
		})
	}
	t.Run("right credential", func(t *testing.T) {
		if _, err := git.LsRemote(t.Context(), with(locked.Remote("repo.git"), "sesame")); err != nil {
			t.Error(err)
		}
		u := strings.Replace(locked.URL, "http://", "http://u:sesame@", 1)
		if _, err := git.LsRemote(t.Context(), git.Remote{URL: u + "/repo.git", Allow: []string{"http"}}); err != nil {
			t.Error(err)
		}
	})
	t.Run("password in an address", func(t *testing.T) {
		u := strings.Replace(closed.URL, "http://", "http://u:sesame@", 1)
		_, err := git.LsRemote(t.Context(), git.Remote{URL: u, Allow: []string{"http"}})
		if err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("got %v", err)
		}
		_, err = git.LsRemote(t.Context(), git.Remote{URL: "foo://u:sesame@host/x"})
		if err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirectCarriesNoCredential(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("main", "one", gittest.Files{"a": "1\n"})
	other := serve(t, r, gittest.ServerOptions{})
	s := serve(t, r, gittest.ServerOptions{Redirect: map[string]string{"/old.git": other.URL + "/repo.git"}})
	remote := s.Remote("old.git")
	remote.Credential = git.Credential{User: "u", Password: "sesame"}
	_, err := git.LsRemote(t.Context(), remote)
	var moved *git.Redirected
	if !errors.As(err, &moved) || moved.To != other.URL+"/repo.git" {
		t.Fatalf("got %v", err)
	}
	if n := other.Requests.Load(); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

func TestProxyWantsPassword(t *testing.T) {
	proxy := gittest.AskingProxy(t)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, proxy)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	for _, remote := range []git.Remote{{URL: "https://host.invalid/x.git"}, {URL: "http://host.invalid/x.git", Allow: []string{"http"}}} {
		_, err := git.LsRemote(t.Context(), remote)
		var p *git.ProxyAuth
		if !errors.As(err, &p) || verdict.Of(err) != verdict.Infra {
			t.Errorf("%s: got %v", remote.URL, err)
		}
	}
}

func TestSHA256IsRefusedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := git.Command("", "init", "-q", "--bare", "--object-format=sha256", dir+"/repo.git")
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c = git.Command(dir+"/repo.git", "-c", "user.name=a", "-c", "user.email=b", "commit-tree", "-m", "x", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321")
	res, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(res.Stdout))
	if _, err := git.Command(dir+"/repo.git", "update-ref", "refs/heads/main", id).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var format *git.ObjectFormat
	if _, err := git.Open(t.Context(), dir+"/repo.git"); !errors.As(err, &format) {
		t.Errorf("Open: %v", err)
	}
	if _, err := git.ParseID(id); !errors.As(err, &format) {
		t.Errorf("ParseID: %v", err)
	}
	s := gittest.Serve(t, dir, gittest.ServerOptions{})
	if refs, err := git.LsRemote(t.Context(), s.Remote("repo.git")); !errors.As(err, &format) {
		t.Errorf("LsRemote: %v, %v", refs, err)
	}
	dst := gittest.New(t)
	err = dst.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Refs: []git.Refspec{{From: "refs/heads/main", To: "refs/x/main"}}})
	if !errors.As(err, &format) {
		t.Errorf("Fetch: %v", err)
	}
}

func TestCancelledAndTimedOut(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := git.LsRemote(ctx, git.Remote{URL: r.Dir(), Allow: []string{"file"}})
	if !errors.Is(err, context.Canceled) || verdict.Of(err) != verdict.Infra {
		t.Errorf("got %v", err)
	}
}
