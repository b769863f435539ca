// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// indexKind follows a machine-readable list of files.
//
// In a json or toml index, select is a path of names with dots between them:
// {a,b} stands for each of several names, * for every name, and a part with
// {version} for the version. It leads to files, to lists of them, or to objects
// whose keys are platforms. In a pep503 page or an s3 listing, select is a glob
// on the file's name or key, with {version} in it.
//
// The newest version is the highest of those at {version}, by the schemes.
// Without {version} and schemes there is one version, whatever it is called:
// its files' content is what may change, as under a mutable name.
type indexKind struct{}

var _ kind = indexKind{}

// A listed file is what an index says of one.
type listed struct {
	version string // what stood at {version}; empty where the select has none
	file    pins.File
}

func (k indexKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (c *Candidate, err error) {
	if err := e.online("its index"); err != nil {
		return nil, err
	}
	all, standsIn, err := readIndex(ctx, e, p.Track.Index(), "")
	if err != nil {
		return nil, err
	}
	c = &Candidate{StandsIn: standsIn}
	if strings.Contains(p.Track.Select, "{version}") {
		if c.Version, err = newestListed(p, all); err != nil {
			return nil, err
		}
	}
	c.Files, err = filesOf(p, all, c.Version)
	if err != nil {
		return nil, err
	}
	if !p.Track.MutableName {
		err = checkReplaced(p, c.Version, c.Files)
	}
	return c, err
}

func newestListed(p *pins.Pin, all []listed) (string, error) {
	schemes, err := pins.NewSchemes(&p.Track)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", verdict.Failf("its index has no file that select and platforms leave")
	}
	if len(p.Track.Schemes) == 0 {
		return "", verdict.Failf("its index has versions, and track.schemes must say how they are ordered")
	}
	var versions []string
	for _, l := range all {
		if !schemes.Ignored(l.version) && !slices.Contains(versions, l.version) {
			versions = append(versions, l.version)
		}
	}
	best, outside, err := schemes.Newest(versions)
	if err != nil {
		return "", err
	}
	if len(outside) > 0 {
		return "", verdict.Heldf("%w", &pins.OutsideScheme{Tag: outside[0]})
	}
	return best, nil
}

// filesOf returns the files of one version, by name and platform.
func filesOf(p *pins.Pin, all []listed, version string) ([]pins.File, error) {
	ix := p.Track.Index()
	var files []pins.File
	for _, l := range all {
		if l.version == version || l.version == "" {
			files = append(files, l.file)
		}
	}
	for _, want := range ix.Platforms {
		if !slices.ContainsFunc(files, func(f pins.File) bool { return f.Platform == want }) {
			return nil, verdict.Failf("its index has no file of %s for the platform %s", orNothing(version, "what select names"), want)
		}
	}
	if len(files) == 0 {
		return nil, verdict.Failf("its index has no file of %s", orNothing(version, "what select names"))
	}
	slices.SortFunc(files, func(a, b pins.File) int {
		return strings.Compare(a.Name+"\x00"+a.Platform, b.Name+"\x00"+b.Platform)
	})
	for i, f := range files {
		if i > 0 && f.Name == files[i-1].Name && f.Platform == files[i-1].Platform {
			return nil, verdict.Failf("its index has the file %s twice: select must name one of them", inert.Quote(f.Name, 100))
		}
	}
	return files, nil
}

func orNothing(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return inert.Quote(s, 100)
}

// lock takes the files of the candidate; a field pin's candidate has a version
// and no files, which are then read from its own index.
func (k indexKind) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (l *pins.Lock, err error) {
	ix := p.Track.Index()
	if ix == nil {
		return nil, verdict.Failf("it has no index of files")
	}
	files, standsIn := c.Files, c.StandsIn
	if len(files) == 0 {
		if err := e.online("its index"); err != nil {
			return nil, err
		}
		all, s, err := readIndex(ctx, e, ix, c.Version)
		if err != nil {
			return nil, err
		}
		if files, err = filesOf(p, all, c.Version); err != nil {
			return nil, err
		}
		if s != "" {
			standsIn = s
		}
	}
	replaced := func(files []pins.File) error {
		if ix.MutableName {
			return nil
		}
		return checkReplaced(p, c.Version, files)
	}
	if err := replaced(files); err != nil {
		return nil, err
	}
	files, s, err := e.lockFiles(ctx, files, plainFile)
	if err != nil {
		return nil, err
	}
	if err := replaced(files); err != nil {
		return nil, err
	}
	if s != "" {
		standsIn = s
	}
	if p.Lock != nil && p.Lock.Version == c.Version && p.Lock.Commit == string(c.Commit) && sameFiles(p.Lock.Files, files) && (p.Lock.ViaMirror != nil) == (standsIn != "") {
		return unchanged(p), nil
	}
	return viaMirror(&pins.Lock{Version: c.Version, Commit: string(c.Commit), Date: c.Date, Via: c.Via, Files: files}, standsIn), nil
}

func (k indexKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) (entries []*store.Entry, err error) {
	entries, err = e.fetchFiles(ctx, p, plainFile)
	var wrong *httpget.SumMismatch
	var size *httpget.SizeMismatch
	if ix := p.Track.Index(); ix != nil && ix.MutableName && (errors.As(err, &wrong) || errors.As(err, &size)) {
		err = verdict.Failf("%w (its name stays while its content changes: take the new one with 'dist pins update %s')", err, p.Name)
	}
	return entries, err
}

// maxIndex bounds an index, in bytes.
const maxIndex = 64 << 20

// readIndex asks for an index and returns what it lists; a version that is
// given limits it to that.
func readIndex(ctx context.Context, e *Engine, ix *pins.FileIndex, version string) ([]listed, string, error) {
	// The version is put into the address as one part of a path, whatever it holds.
	address := strings.ReplaceAll(ix.URL, "{version}", url.PathEscape(version))
	if version == "" && strings.Contains(ix.URL, "{version}") {
		return nil, "", verdict.Failf("the address of its index needs a version, and nothing gives one")
	}
	if ix.Format == pins.FormatS3 {
		return readS3(ctx, e, ix, address, version)
	}
	resp, standsIn, err := e.get(ctx, address, func(r *httpget.Request) { r.HTML = ix.Format == pins.FormatPEP503 })
	if err != nil {
		return nil, "", err
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	var all []listed
	switch ix.Format {
	case pins.FormatJSON, pins.FormatTOML:
		all, err = readObject(ix, base, resp.Body, version)
	case pins.FormatPEP503:
		all, err = readPEP503(ix, base, resp.Body, version)
	default:
		err = fmt.Errorf("its format %q is not known", ix.Format)
	}
	if err != nil {
		return nil, "", verdict.Failf("the index %s: %w", httpget.Mask(address), err)
	}
	return all, standsIn, nil
}

// fileAt completes a file by its address; rel may be relative to base.
func fileAt(base *url.URL, rel string, f pins.File) (pins.File, error) {
	u, err := base.Parse(rel)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Host == "" {
		return f, fmt.Errorf("it lists %s, which is no https address", inert.Quote(rel, 200))
	}
	u.Fragment = ""
	f.URL = u.String()
	if f.Name == "" {
		f.Name = path.Base(u.Path)
	}
	if f.Name == "/" || f.Name == "." || strings.ContainsFunc(f.Name, inert.Invisible) || strings.ContainsAny(f.Name, "/\\\n") {
		return f, fmt.Errorf("it lists a file with the name %s", inert.Quote(f.Name, 200))
	}
	if f.SHA256 = strings.ToLower(f.SHA256); f.SHA256 != "" && !isSHA256(f.SHA256) {
		return f, fmt.Errorf("it lists %s with the sum %s, which is no sha256", inert.Quote(f.Name, 200), inert.Quote(f.SHA256, 100))
	}
	if f.Size < 0 {
		return f, fmt.Errorf("it lists %s with a negative size", inert.Quote(f.Name, 200))
	}
	return f, nil
}
