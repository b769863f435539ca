// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

const (
	githubHost = "github.com"
	githubAPI  = "api.github.com"
)

// releaseKind follows the published releases of a GitHub repository: those
// that the API lists, which has drafts and deleted ones in no list of tags. It
// is for the files of a release.
type releaseKind struct{}

// releasedSource is for the source of a release: the commit of its tag.
type releasedSource struct{ tagKind }

var (
	_ kind   = releaseKind{}
	_ finder = releaseKind{}
	_ kind   = releasedSource{}
	_ finder = releasedSource{}
)

func (releasedSource) newest(ctx context.Context, e *Engine, p *pins.Pin) (*Candidate, error) {
	return releaseKind{}.newest(ctx, e, p)
}

// A release is what GitHub's API says of one.
type release struct {
	Tag        string    `json:"tag_name"`
	Draft      bool      `json:"draft"`
	Prerelease bool      `json:"prerelease"`
	Published  time.Time `json:"published_at"`
	Assets     []asset   `json:"assets"`
}

type asset struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	State  string `json:"state"`  // uploaded, or open while it is not whole
	Digest string `json:"digest"` // sha256:…, absent for old assets
	URL    string `json:"browser_download_url"`
}

func (k releaseKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (*Candidate, error) {
	if err := e.online("the list of its releases"); err != nil {
		return nil, err
	}
	r, standsIn, err := k.pick(ctx, e, p)
	if err != nil {
		return nil, err
	}
	return k.candidate(ctx, e, p, r, standsIn)
}

// find takes the tag of a release.
func (k releaseKind) find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (*Candidate, error) {
	if err := checkTag(rev); err != nil {
		return nil, err
	}
	if err := e.online("the release " + rev); err != nil {
		return nil, err
	}
	var r release
	standsIn, err := k.api(ctx, e, p, "/releases/tags/"+url.PathEscape(rev), &r)
	if err == nil && r.Tag != rev {
		err = verdict.Failf("the release %s was asked for and %s came", shown(rev), shown(r.Tag))
	}
	if err != nil {
		return nil, err
	}
	return k.candidate(ctx, e, p, &r, standsIn)
}

func (k releaseKind) candidate(ctx context.Context, e *Engine, p *pins.Pin, r *release, standsIn string) (c *Candidate, err error) {
	c = &Candidate{Version: r.Tag, Date: r.Published.UTC(), StandsIn: standsIn}
	if c.Files, err = releaseFiles(p, r); err != nil {
		return nil, err
	}
	if err := checkReplaced(p, c.Version, c.Files); err != nil {
		return nil, err
	}
	// The API's answer has no commit. That of the locked version is known, so
	// a look at an upstream that did not move stays one request.
	if p.Lock != nil && p.Lock.Version == c.Version {
		c.Commit, c.TagObject = git.ID(p.Lock.Commit), git.ID(p.Lock.Tag)
		return c, nil
	}
	ref, s, err := k.tag(ctx, e, p, c.Version)
	if err != nil {
		return nil, err
	}
	t := tagged(ref)
	c.Commit, c.TagObject, c.where = t.Commit, t.TagObject, t.where
	if s != "" {
		c.StandsIn = s
	}
	return c, nil
}

// pick asks for the release that the track means.
func (k releaseKind) pick(ctx context.Context, e *Engine, p *pins.Pin) (*release, string, error) {
	schemes, err := pins.NewSchemes(&p.Track)
	if err != nil {
		return nil, "", err
	}
	if p.Track.Newest == pins.NewestLatest {
		var r release
		standsIn, err := k.api(ctx, e, p, "/releases/latest", &r)
		if err != nil {
			return nil, "", err
		}
		if len(p.Track.Schemes) > 0 {
			if _, err := schemes.Parse(r.Tag); err != nil {
				return nil, "", verdict.Heldf("%w", err)
			}
		}
		return &r, standsIn, checkTag(r.Tag)
	}
	var all []release
	standsIn, err := k.api(ctx, e, p, "/releases?per_page=100", &all)
	if err != nil {
		return nil, "", err
	}
	all = slices.DeleteFunc(all, func(r release) bool {
		pre := p.Track.Prerelease == "" || p.Track.Prerelease == pins.PrereleaseNo
		return r.Draft || r.Prerelease && pre || schemes.Ignored(r.Tag)
	})
	tags := make([]string, len(all))
	for i, r := range all {
		tags[i] = r.Tag
	}
	best, outside, err := schemes.Newest(tags)
	if err != nil {
		return nil, "", err
	}
	if len(outside) > 0 {
		return nil, "", verdict.Heldf("%w", &pins.OutsideScheme{Tag: outside[0]})
	}
	i := slices.Index(tags, best)
	return &all[i], standsIn, checkTag(best)
}

// checkTag refuses what cannot be the name of a tag.
func checkTag(tag string) error {
	if err := git.CheckRefName("refs/tags/" + tag); err != nil || tag == "" {
		return verdict.Failf("the newest release has the tag %s, which is no name for one", inert.Quote(tag, 100))
	}
	return nil
}

// releaseFiles returns the assets that the track's globs match; each glob must
// match one.
func releaseFiles(p *pins.Pin, r *release) ([]pins.File, error) {
	var files []pins.File
	for _, g := range p.Track.Assets {
		found := false
		for _, a := range r.Assets {
			if ok, _ := path.Match(g, a.Name); !ok {
				continue
			}
			found = true
			if a.State != "" && a.State != "uploaded" {
				return nil, verdict.Infraf("the asset %s of %s is not uploaded to its end yet: try again later", inert.Quote(a.Name, 100), r.Tag)
			}
			if u, err := url.Parse(a.URL); err != nil || u.Scheme != "https" || u.User != nil {
				return nil, verdict.Failf("the asset %s of %s has no https address", inert.Quote(a.Name, 100), r.Tag)
			}
			sum, err := digestOf(a.Digest)
			if err != nil {
				return nil, verdict.Failf("the asset %s of %s: %w", inert.Quote(a.Name, 100), r.Tag, err)
			}
			if !slices.ContainsFunc(files, func(f pins.File) bool { return f.Name == a.Name }) {
				files = append(files, pins.File{Name: a.Name, URL: a.URL, SHA256: sum, Size: a.Size})
			}
		}
		if !found {
			return nil, verdict.Failf("the release %s has no asset that matches %s (it has %d): change track.assets, or wait until it is uploaded", r.Tag, inert.Quote(g, 100), len(r.Assets))
		}
	}
	slices.SortFunc(files, func(a, b pins.File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// digestOf reads "sha256:<64 hex digits>"; nothing is nothing.
func digestOf(s string) (string, error) {
	sum, ok := strings.CutPrefix(strings.ToLower(s), "sha256:")
	if s == "" {
		return "", nil
	}
	if !ok || !isSHA256(sum) {
		return "", fmt.Errorf("%s is no sha256", inert.Quote(s, 100))
	}
	return sum, nil
}

func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func (k releaseKind) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (l *pins.Lock, err error) {
	if err := e.online("the release " + c.Version); err != nil {
		return nil, err
	}
	ref, standsIn, err := k.tag(ctx, e, p, c.Version)
	if err != nil {
		return nil, err
	}
	if p.Lock != nil && p.Lock.Version == c.Version && p.Lock.Commit != string(ref.Commit()) {
		return nil, &Moved{Tag: c.Version, Old: git.ID(p.Lock.Commit), New: ref.Commit()}
	}
	if err := checkReplaced(p, c.Version, c.Files); err != nil {
		return nil, err
	}
	files, standsIn2, err := e.lockFiles(ctx, c.Files, plainFile)
	if err != nil {
		return nil, err
	}
	if err := checkReplaced(p, c.Version, files); err != nil {
		return nil, err
	}
	l = &pins.Lock{Version: c.Version, Commit: string(ref.Commit()), Date: c.Date, Files: files}
	if ref.Peeled != "" {
		l.Tag = string(ref.ID)
	}
	for _, s := range []string{c.StandsIn, standsIn, standsIn2} {
		if s != "" {
			return viaMirror(l, s), nil
		}
	}
	return viaMirror(l, ""), nil
}

func (k releaseKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) (entries []*store.Entry, err error) {
	return e.fetchFiles(ctx, p, plainFile)
}

// tag asks the repository which commit a release's tag is.
func (k releaseKind) tag(ctx context.Context, e *Engine, p *pins.Pin, tag string) (git.Ref, string, error) {
	name := "refs/tags/" + tag
	refs, place, err := e.refs(ctx, p.Upstream, name)
	if err != nil {
		return git.Ref{}, "", explainGit(p, err)
	}
	ref, ok := refs.Find(name)
	if !ok {
		return git.Ref{}, "", verdict.Failf("the release %s has no tag in %s", tag, git.Mask(p.Upstream))
	}
	return ref, place.StandsIn, nil
}

// api asks GitHub's API about the pin's repository.
func (k releaseKind) api(ctx context.Context, e *Engine, p *pins.Pin, what string, into any) (standsIn string, err error) {
	repo, err := githubRepository(p.Upstream)
	if err != nil {
		return "", err
	}
	var asked httpget.Request
	resp, standsIn, err := e.get(ctx, "https://"+githubAPI+"/repos/"+repo+what, func(r *httpget.Request) {
		r.Accept = "application/vnd.github+json"
		r.Credentials = token(os.Getenv, "GITHUB_TOKEN", githubAPI)
		r.RefuseMoved = true
		asked = *r
	})
	var moved *httpget.Moved
	var missing *httpget.NotFound
	var auth *httpget.Unauthorized
	switch {
	case errors.As(err, &moved):
		return "", k.renamed(ctx, e, asked, repo, moved)
	case errors.As(err, &missing):
		return "", verdict.Failf("%s has no published release, or is not there (%w)", repo, err)
	case errors.As(err, &auth):
		return "", verdict.Infraf("%s may not be seen (%w): set GITHUB_TOKEN to a token that may read it", repo, err)
	case err != nil:
		return "", err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return "", verdict.Infraf("the API's answer about %s cannot be read (%w)", repo, err)
	}
	return standsIn, nil
}

// renamed asks what a repository is called now: the API redirects to the
// repository's number (mudler/LocalAI wrote such a body into its pin).
func (k releaseKind) renamed(ctx context.Context, e *Engine, req httpget.Request, repo string, moved *httpget.Moved) error {
	now := httpget.Mask(moved.To)
	to, err1 := url.Parse(moved.To)
	from, err2 := url.Parse(req.URL)
	if err1 == nil && err2 == nil && to.Host == from.Host && to.Scheme == from.Scheme {
		to.Path, to.RawQuery = strings.TrimSuffix(to.Path, "/releases/latest"), ""
		to.Path = strings.TrimSuffix(to.Path, "/releases")
		req.URL = to.String()
		var r struct {
			FullName string `json:"full_name"`
		}
		if resp, err := e.HTTP.Get(ctx, req); err == nil && json.Unmarshal(resp.Body, &r) == nil {
			if _, err := githubRepository("https://" + githubHost + "/" + r.FullName); err == nil {
				now = "https://" + githubHost + "/" + r.FullName + ".git"
			}
		}
	}
	return verdict.Failf("the repository %s was renamed (%w): its address is now %s; put it into upstream if that is right", repo, moved, now)
}

// githubRepository returns the owner/name of a GitHub address.
func githubRepository(upstream string) (string, error) {
	u, err := url.Parse(upstream)
	if err == nil && strings.EqualFold(u.Host, githubHost) {
		repo := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
		if owner, name, ok := strings.Cut(repo, "/"); ok && plainWord(owner) && plainWord(name) {
			return repo, nil
		}
	}
	return "", verdict.Failf("upstream %s is no repository of %s, and only those have releases to follow", git.Mask(upstream), githubHost)
}

// plainWord reports whether s can stand in an address as it is.
func plainWord(s string) bool {
	return s != "" && s != "." && s != ".." && inert.FileName(s) == s
}
