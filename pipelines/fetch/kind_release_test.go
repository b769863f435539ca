// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

const releasesPath = "/api.github.com/repos/acme/tool/releases"

// A hub is GitHub with one repository, acme/tool, and its releases.
type hub struct {
	*site
	repo *gittest.Repo
	e    *Engine
}

func newHub(t *testing.T) *hub {
	s := newSite(t)
	repo := gittest.New(t)
	h := &hub{site: s, repo: repo, e: newKinds(t, s, "api.github.com", "github.com")}
	h.e.Mirrors.URLs["https://github.com/acme/tool.git"] = Mirror{To: gittest.Serve(t, filepath.Dir(repo.Dir()), gittest.ServerOptions{}).URL + "/repo.git"}
	return h
}

// release publishes one with an asset.
func (h *hub) release(tag, asset, content, digest string) {
	id := h.repo.Commit("main", tag, gittest.Files{"version": tag})
	h.repo.Annotated(tag, "release", id)
	h.publish(tag, asset, content, digest)
}

func (h *hub) publish(tag, asset, content, digest string) {
	where := "/acme/tool/releases/download/" + tag + "/" + asset
	h.put("/github.com"+where, content)
	h.put(releasesPath+"/latest", fmt.Sprintf(`{"tag_name":%q,"draft":false,"prerelease":false,"published_at":"2026-10-01T10:00:00Z","assets":[
		{"name":%q,"size":%d,"state":"uploaded","digest":%s,"browser_download_url":%q},
		{"name":"notes.txt","size":3,"state":"uploaded","digest":null,"browser_download_url":"https://github.com/x"}]}`,
		tag, asset, len(content), quoteOrNull(digest), "https://github.com"+where))
}

func quoteOrNull(s string) string {
	if s == "" {
		return "null"
	}
	b, _ := json.Marshal(s)
	return string(b)
}

func toolPin() *pins.Pin {
	return &pins.Pin{Name: "tool", Upstream: "https://github.com/acme/tool.git", Track: pins.Track{
		Kind: pins.GithubRelease, Newest: pins.NewestLatest, Assets: []string{"tool-*.tar.gz"},
	}}
}

func TestReleaseAssets(t *testing.T) {
	for _, digest := range []string{"", "sha256:" + sha("content")} {
		t.Run("digest "+digest, func(t *testing.T) {
			h := newHub(t)
			h.release("v1.0", "tool-linux.tar.gz", "content", digest)
			p := toolPin()
			entries := locked(t, h.e, p)
			f := p.Lock.Files[0]
			if len(entries) != 1 || f.Name != "tool-linux.tar.gz" || f.SHA256 != sha("content") || f.Size != 7 {
				t.Errorf("%d entries, %+v", len(entries), f)
			}
			if p.Lock.Version != "v1.0" || len(p.Lock.Commit) != 40 || len(p.Lock.Tag) != 40 || p.Lock.Date.Hour() != 10 {
				t.Errorf("%+v", p.Lock)
			}
			h.put(releasesPath+"/tags/v1.0", h.files[releasesPath+"/latest"])
			if c, err := (releaseKind{}).find(t.Context(), h.e, p, "v1.0"); err != nil || c.id() != p.Lock.ID() {
				t.Errorf("find: %+v, %v", c, err)
			}
			before := h.asked()
			c, err := releaseKind{}.newest(t.Context(), h.e, p)
			if err != nil || c.id() != p.Lock.ID() || h.asked() != before+1 {
				t.Errorf("asked again: %+v, %v, %d requests", c, err, h.asked()-before)
			}
		})
	}
}

// BoundaryML/baml#4425, openucx/ucx#8810: an asset uploaded again under its name.
func TestReleaseAssetReplaced(t *testing.T) {
	for _, digest := range []bool{true, false} {
		h := newHub(t)
		h.release("v1.0", "tool-linux.tar.gz", "content", "sha256:"+sha("content"))
		p := toolPin()
		locked(t, h.e, p)
		d := ""
		if digest {
			d = "sha256:" + sha("evil!!!")
		}
		h.publish("v1.0", "tool-linux.tar.gz", "evil!!!", d)
		old := *p.Lock
		_, err := update(t, h.e, p)
		wantError(t, err, verdict.Fail, "tool-linux.tar.gz", sha("content"), sha("evil!!!"))
		var wrong *httpget.SumMismatch
		if !errors.As(err, &wrong) {
			t.Errorf("not a SumMismatch: %v", err)
		}
		if p.Lock.Files[0] != old.Files[0] {
			t.Error("the lock changed")
		}
		if entries := fetchedOffline(t, h.e, p); entries != 1 {
			t.Errorf("%d entries", entries)
		}
	}
}

func fetchedOffline(t *testing.T, e *Engine, p *pins.Pin) int {
	t.Helper()
	off := *e
	off.Offline = true
	entries, err := kindOf(p).fetch(t.Context(), &off, p)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestReleaseBadAnswers(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*hub)
		want  verdict.Verdict
		words []string
	}{
		// mudler/LocalAI wrote the body of such an answer into its pin.
		{"renamed", func(h *hub) {
			h.answer(releasesPath+"/latest", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/api.github.com/repositories/42/releases/latest", http.StatusMovedPermanently)
			})
			h.put("/api.github.com/repositories/42", `{"full_name":"acme/better"}`)
		}, verdict.Fail, []string{"acme/tool was renamed", "https://github.com/acme/better.git"}},
		// peter-evans/create-pull-request#855, google/go-github#2229
		{"rate limit", func(h *hub) {
			h.answer(releasesPath+"/latest", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-RateLimit-Remaining", "0")
				w.Header().Set("X-RateLimit-Reset", "1793624400")
				w.WriteHeader(http.StatusForbidden)
			})
		}, verdict.Infra, []string{"limits its requests"}},
		{"secondary limit", func(h *hub) {
			h.answer(releasesPath+"/latest", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, `{"message":"You have exceeded a secondary rate limit"}`)
			})
		}, verdict.Infra, []string{"limits its requests"}},
		{"no token", func(h *hub) {
			h.answer(releasesPath+"/latest", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		}, verdict.Infra, []string{"GITHUB_TOKEN"}},
		{"broken server", func(h *hub) {
			h.answer(releasesPath+"/latest", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		}, verdict.Infra, nil},
		{"no release", func(h *hub) { delete(h.files, releasesPath+"/latest") }, verdict.Fail, []string{"no published release"}},
		{"web page", func(h *hub) { h.put(releasesPath+"/latest", "<!DOCTYPE html><p>log in") }, verdict.Fail, []string{"web page"}},
		{"no JSON", func(h *hub) { h.put(releasesPath+"/latest", "oops") }, verdict.Infra, []string{"cannot be read"}},
		{"no asset", func(h *hub) { h.publish("v1.0", "other.zip", "x", "") }, verdict.Fail, []string{"tool-*.tar.gz"}},
		{"bad digest", func(h *hub) { h.publish("v1.0", "tool-a.tar.gz", "x", "sha256:short") }, verdict.Fail, []string{"no sha256"}},
		{"other digest", func(h *hub) { h.publish("v1.0", "tool-a.tar.gz", "x", "sha256:"+sha("y")) }, verdict.Fail, []string{sha("x"), sha("y")}},
		{"hostile tag", func(h *hub) { h.publish("--upload-pack=x y", "tool-a.tar.gz", "x", "") }, verdict.Fail, []string{"no name for one"}},
		{"no such tag", func(h *hub) { h.publish("v9", "tool-a.tar.gz", "x", "") }, verdict.Fail, []string{"no tag"}},
		{"LFS pointer", func(h *hub) {
			h.publish("v1.0", "tool-a.tar.gz", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "")
		}, verdict.Fail, []string{"LFS pointer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHub(t)
			h.release("v1.0", "tool-linux.tar.gz", "content", "")
			tt.spoil(h)
			_, err := update(t, h.e, toolPin())
			wantError(t, err, tt.want, tt.words...)
			if n := stored(t, h.e); n != 0 {
				t.Errorf("%d entries are in the store", n)
			}
		})
	}
}

func TestReleaseTagMoved(t *testing.T) {
	h := newHub(t)
	h.release("v1.0", "tool-linux.tar.gz", "content", "")
	p := toolPin()
	locked(t, h.e, p)
	c, err := releaseKind{}.newest(t.Context(), h.e, p)
	if err != nil {
		t.Fatal(err)
	}
	h.repo.Annotated("v1.0", "again", h.repo.Commit("main", "later", gittest.Files{"x": "y"}))
	_, err = releaseKind{}.lock(t.Context(), h.e, p, c)
	var moved *Moved
	if !errors.As(err, &moved) || string(moved.Old) != p.Lock.Commit {
		t.Errorf("want Moved, got %v", err)
	}
}

func TestReleaseHighest(t *testing.T) {
	h := newHub(t)
	p := toolPin()
	p.Track = pins.Track{Kind: pins.GithubRelease, Newest: pins.NewestHighest, Schemes: []pins.Scheme{{Pattern: "b{build}"}}, Ignore: []string{"nightly"}}
	id := h.repo.Commit("main", "one", gittest.Files{"LICENSE": "MIT\n", "a": "b\n"})
	h.repo.Tag("b10000", id)
	list := `[{"tag_name":"b9999"},{"tag_name":"b10000"},{"tag_name":"nightly"},{"tag_name":"b20000","draft":true},{"tag_name":"b30000","prerelease":true}]`
	h.put(releasesPath+"?per_page=100", list)
	c, err := kindOf(p).newest(t.Context(), h.e, p)
	if err != nil || c.Version != "b10000" || c.Commit != id {
		t.Fatalf("%+v, %v", c, err)
	}
	// Without assets its source is what is locked.
	p.Lock, err = kindOf(p).lock(t.Context(), h.e, p, c)
	if err != nil || p.State() != pins.Verified || p.Lock.Commit != string(id) || p.Lock.ViaMirror == nil {
		t.Fatalf("%+v, %v", p.Lock, err)
	}
	if fetchedOffline(t, h.e, p) != 1 {
		t.Error("its source is not in the store")
	}
	// xorbitsai/xllamacpp#182: the upstream begins to count anew.
	h.put(releasesPath+"?per_page=100", `[{"tag_name":"v1.0.0"},{"tag_name":"b10000"}]`)
	_, err = releaseKind{}.newest(t.Context(), h.e, p)
	wantError(t, err, verdict.Held, "v1.0.0")
}

// The token is for the API's own host, not for a mirror of it.
func TestReleaseTokenStaysHome(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret-token")
	h := newHub(t)
	h.release("v1.0", "tool-linux.tar.gz", "content", "")
	locked(t, h.e, toolPin())
	if len(h.tokens) != 0 {
		t.Errorf("the mirror got %q", h.tokens)
	}
	auth := token(func(string) string { return "secret-token" }, "GITHUB_TOKEN", githubAPI)
	if auth("api.github.com").Get("Authorization") != "Bearer secret-token" || auth("github.com") != nil || auth("api.github.com.evil.example") != nil {
		t.Error("the token goes to the wrong hosts")
	}
}

func TestGithubRepository(t *testing.T) {
	for in, want := range map[string]string{
		"https://github.com/a/b.git":   "a/b",
		"https://github.com/a/b/":      "a/b",
		"https://github.com/a/b/c":     "",
		"https://github.com/a":         "",
		"https://gitlab.com/a/b":       "",
		"https://github.com/../b":      "",
		"https://github.com/a/b?x=y#z": "a/b",
	} {
		if got, err := githubRepository(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
}
