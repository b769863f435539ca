// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
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

const huggingFaceHost = "huggingface.co"

// huggingFaceKind follows files of a model repository. Its commits move with
// every edit of a text; a revision whose files did not change is no bump.
type huggingFaceKind struct{}

var (
	_ kind  = huggingFaceKind{}
	_ samer = huggingFaceKind{}
)

func (k huggingFaceKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (c *Candidate, err error) {
	if err := e.online("its newest revision"); err != nil {
		return nil, err
	}
	revision := p.Track.Revision
	if revision == "" {
		revision = "main"
	}
	return k.revision(ctx, e, p, revision)
}

// find implements finder.
func (k huggingFaceKind) find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (c *Candidate, err error) {
	if err := e.online("the revision " + rev); err != nil {
		return nil, err
	}
	return k.revision(ctx, e, p, rev)
}

func (k huggingFaceKind) revision(ctx context.Context, e *Engine, p *pins.Pin, revision string) (*Candidate, error) {
	var answer struct {
		ID       string    `json:"id"`
		SHA      string    `json:"sha"`
		Modified time.Time `json:"lastModified"`
	}
	resp, standsIn, err := k.get(ctx, e, k.api(p, "/revision/"+url.PathEscape(revision)))
	if err != nil {
		return nil, k.explain(p, revision, err)
	}
	if err := json.Unmarshal(resp.Body, &answer); err != nil {
		return nil, verdict.Infraf("the answer about %s cannot be read (%w)", p.Track.Repo, err)
	}
	if answer.ID != "" && !strings.EqualFold(answer.ID, p.Track.Repo) {
		return nil, verdict.Failf("the repository %s was renamed: it is %s now; put that into track.repo if it is right", p.Track.Repo, inert.Quote(answer.ID, 100))
	}
	commit, err := git.ParseID(answer.SHA)
	if err != nil {
		return nil, verdict.Failf("the revision %s of %s has no commit: %w", inert.Line(revision, 100), p.Track.Repo, err)
	}
	return &Candidate{Commit: commit, Date: answer.Modified.UTC(), StandsIn: standsIn}, nil
}

func (k huggingFaceKind) api(p *pins.Pin, rest string) string {
	return "https://" + huggingFaceHost + "/api/models/" + p.Track.Repo + rest
}

func (k huggingFaceKind) auth() func(string) http.Header {
	return token(os.Getenv, "HF_TOKEN", huggingFaceHost)
}

func (k huggingFaceKind) get(ctx context.Context, e *Engine, address string) (*httpget.Response, string, error) {
	return e.get(ctx, address, func(r *httpget.Request) { r.Credentials = k.auth() })
}

func (k huggingFaceKind) explain(p *pins.Pin, revision string, err error) error {
	var missing *httpget.NotFound
	var auth *httpget.Unauthorized
	switch {
	case errors.As(err, &missing):
		return verdict.Failf("%s has no revision %s (%w)", p.Track.Repo, inert.Line(revision, 100), err)
	case errors.As(err, &auth):
		return verdict.Infraf("%s is not there, or may not be seen (%w): set HF_TOKEN to a token that may read it", p.Track.Repo, auth)
	}
	return err
}

// A node is an entry of a revision's tree.
type node struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	OID  string `json:"oid"` // of the git blob, which for LFS is the pointer's
	LFS  *struct {
		OID  string `json:"oid"` // sha256 of the content
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// nextRE finds the next page in a Link header.
var nextRE = regexp.MustCompile(`<([^>]*)>\s*;[^,]*\brel="?next"?`)

// tree lists the files of a commit that the track wants, by name.
func (k huggingFaceKind) tree(ctx context.Context, e *Engine, p *pins.Pin, commit git.ID) ([]node, error) {
	address := k.api(p, "/tree/"+string(commit)+"?recursive=true")
	seen := map[string]bool{}
	var files []node
	for range maxPages {
		resp, _, err := k.get(ctx, e, address)
		if err != nil {
			return nil, k.explain(p, string(commit), err)
		}
		var page []node
		if err := json.Unmarshal(resp.Body, &page); err != nil {
			return nil, verdict.Infraf("the list of files of %s cannot be read (%w)", p.Track.Repo, err)
		}
		for _, n := range page {
			if n.Type != "file" || !k.wants(p, n.Path) {
				continue
			}
			if err := checkNode(n); err != nil || seen[n.Path] {
				return nil, verdict.Failf("%s lists the file %s: %w", p.Track.Repo, inert.Quote(n.Path, 200), orTwice(err))
			}
			seen[n.Path] = true
			files = append(files, n)
		}
		m := nextRE.FindStringSubmatch(resp.Header.Get("Link"))
		if m == nil {
			slices.SortFunc(files, func(a, b node) int { return strings.Compare(a.Path, b.Path) })
			return files, nil
		}
		next, err := url.Parse(m[1])
		if err != nil || next.Query().Get("cursor") == "" {
			return nil, verdict.Failf("the list of files of %s goes on at an address that cannot be read", p.Track.Repo)
		}
		// Only the place in the list is taken from the answer, never the host.
		address = k.api(p, "/tree/"+string(commit)+"?recursive=true&cursor="+url.QueryEscape(next.Query().Get("cursor")))
	}
	return nil, verdict.Failf("the list of files of %s has more than %d pages", p.Track.Repo, maxPages)
}

func orTwice(err error) error {
	if err == nil {
		return errors.New("it is there twice")
	}
	return err
}

func (k huggingFaceKind) wants(p *pins.Pin, name string) bool {
	in := func(globs []string) bool {
		return slices.ContainsFunc(globs, func(g string) bool { return pins.MatchGlob(g, name) })
	}
	return (len(p.Track.Include) == 0 || in(p.Track.Include)) && !in(p.Track.Exclude)
}

func checkNode(n node) error {
	if n.Path == "" || path.Clean("/"+n.Path) != "/"+n.Path || strings.ContainsFunc(n.Path, inert.Invisible) || strings.Contains(n.Path, `\`) {
		return errors.New("that is no path for a file")
	}
	if n.LFS != nil {
		if !isSHA256(strings.TrimPrefix(n.LFS.OID, "sha256:")) || n.LFS.Size < 0 {
			return fmt.Errorf("its sum %s is no sha256", inert.Quote(n.LFS.OID, 80))
		}
		return nil
	}
	if _, err := git.ParseID(n.OID); err != nil || n.Size < 0 {
		return fmt.Errorf("its id %s is none of git", inert.Quote(n.OID, 80))
	}
	return nil
}

func (k huggingFaceKind) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (l *pins.Lock, err error) {
	if err := e.online("the list of its files"); err != nil {
		return nil, err
	}
	nodes, err := k.tree(ctx, e, p, c.Commit)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, verdict.Failf("%s has no file at %s that track.include and track.exclude leave", p.Track.Repo, c.Commit)
	}
	blobs := map[string]node{}
	var files []pins.File
	for _, n := range nodes {
		f := pins.File{Name: n.Path, URL: k.resolve(p, c.Commit, n.Path), Size: n.Size}
		if n.LFS != nil {
			f.SHA256, f.Size = strings.TrimPrefix(n.LFS.OID, "sha256:"), n.LFS.Size
		}
		blobs[n.Path] = n
		files = append(files, f)
	}
	files, standsIn, err := e.lockFiles(ctx, files, func(f pins.File) download {
		d := k.download(f)
		if n := blobs[f.Name]; n.LFS == nil {
			d.expect.Hash, d.expect.Sum = gitBlob(n.Size), n.OID
		}
		return d
	})
	if err != nil {
		return nil, err
	}
	if standsIn == "" {
		standsIn = c.StandsIn
	}
	if p.Lock != nil && sameFiles(p.Lock.Files, files) {
		return unchanged(p), nil
	}
	return viaMirror(&pins.Lock{Commit: string(c.Commit), Date: c.Date, Files: files}, standsIn), nil
}

// same compares the list of files with the locked ones. Of a file whose sum the
// list does not say, which are the small ones, the locked content is read.
func (k huggingFaceKind) same(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (bool, error) {
	nodes, err := k.tree(ctx, e, p, c.Commit)
	if err != nil || len(nodes) != len(p.Lock.Files) {
		return false, err
	}
	locked := map[string]pins.File{}
	for _, f := range p.Lock.Files {
		locked[f.Name] = f
	}
	for _, n := range nodes {
		f, ok := locked[n.Path]
		if !ok || n.LFS != nil && (strings.TrimPrefix(n.LFS.OID, "sha256:") != f.SHA256 || n.LFS.Size != f.Size) || n.LFS == nil && n.Size != f.Size {
			return false, nil
		}
		if n.LFS != nil {
			continue
		}
		entry, _, err := e.file(ctx, k.download(f))
		if err != nil {
			return false, err
		}
		content, err := os.ReadFile(entry.Path)
		if err != nil {
			return false, err
		}
		if git.HashObject("blob", content) != git.ID(n.OID) {
			return false, nil
		}
	}
	return true, nil
}

// gitBlob returns a hash that gives the id of a git blob of size bytes.
func gitBlob(size int64) func() hash.Hash {
	return func() hash.Hash {
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", size)
		return h
	}
}

// resolve is the address of a file at a commit; it redirects to where LFS
// content is.
func (k huggingFaceKind) resolve(p *pins.Pin, commit git.ID, name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "https://" + huggingFaceHost + "/" + p.Track.Repo + "/resolve/" + string(commit) + "/" + strings.Join(parts, "/")
}

func (k huggingFaceKind) download(f pins.File) download {
	d := plainFile(f)
	d.auth = k.auth()
	return d
}

func (k huggingFaceKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) (entries []*store.Entry, err error) {
	return e.fetchFiles(ctx, p, k.download)
}
