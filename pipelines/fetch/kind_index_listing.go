// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

var (
	anchorRE = regexp.MustCompile(`(?is)<a\s([^>]*)>`)
	hrefRE   = regexp.MustCompile(`(?is)(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
	yankedRE = regexp.MustCompile(`(?is)(?:^|\s)data-yanked(?:\s|=|$)`)
)

// readPEP503 reads a project's page of a Python package index. Withdrawn
// files are not there.
func readPEP503(ix *pins.FileIndex, base *url.URL, data []byte, version string) ([]listed, error) {
	glob, err := newVersionGlob(ix.Select)
	if err != nil {
		return nil, err
	}
	var all []listed
	for _, a := range anchorRE.FindAllSubmatch(data, -1) {
		m := hrefRE.FindSubmatch(a[1])
		if m == nil || yankedRE.Match(a[1]) {
			continue
		}
		href, fragment, _ := strings.Cut(html.UnescapeString(string(m[1])+string(m[2])+string(m[3])), "#")
		u, err := base.Parse(href)
		if err != nil {
			continue
		}
		name := path.Base(u.Path)
		v, ok := glob.match(name)
		if !ok || version != "" && v != "" && v != version {
			continue
		}
		sum, _ := strings.CutPrefix(fragment, "sha256=")
		if !strings.HasPrefix(fragment, "sha256=") {
			sum = ""
		}
		platform, ok := platformOf(ix.Platforms, nil, name)
		if !ok {
			continue
		}
		f, err := fileAt(base, href, pins.File{Name: name, Platform: platform, SHA256: sum})
		if err != nil {
			return nil, err
		}
		all = append(all, listed{v, f})
	}
	return all, nil
}

// bucket is one page of an S3 listing (ListObjectsV2).
type bucket struct {
	XMLName   xml.Name `xml:"ListBucketResult"`
	Truncated bool     `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Contents  []struct {
		Key  string `xml:"Key"`
		Size int64  `xml:"Size"`
	} `xml:"Contents"`
}

// maxPages bounds a listing; each page has a thousand keys.
const maxPages = 50

// readS3 reads the listing of a bucket, page by page. The address is that of
// the listing, with its prefix; keys are below it without the query.
func readS3(ctx context.Context, e *Engine, ix *pins.FileIndex, address, version string) ([]listed, string, error) {
	wrong := func(err error) ([]listed, string, error) {
		return nil, "", verdict.Failf("the index %s: %w", httpget.Mask(address), err)
	}
	glob, err := newVersionGlob(ix.Select)
	if err != nil {
		return wrong(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		return wrong(err)
	}
	query := u.Query()
	query.Set("list-type", "2")
	top := *u
	top.RawQuery, top.Path, top.RawPath = "", strings.TrimSuffix(u.Path, "/")+"/", ""
	var all []listed
	for range maxPages {
		u.RawQuery = query.Encode()
		resp, standsIn, err := e.get(ctx, u.String(), nil)
		if err != nil {
			return nil, "", err
		}
		var b bucket
		if err := xml.Unmarshal(resp.Body, &b); err != nil {
			return wrong(fmt.Errorf("it is no listing of a bucket (%w)", err))
		}
		for _, c := range b.Contents {
			v, ok := glob.match(c.Key)
			if !ok || version != "" && v != "" && v != version || strings.HasSuffix(c.Key, "/") {
				continue
			}
			platform, ok := platformOf(ix.Platforms, nil, c.Key)
			if !ok {
				continue
			}
			if path.Clean("/"+c.Key) != "/"+c.Key {
				return wrong(fmt.Errorf("it lists the key %q", c.Key))
			}
			f, err := fileAt(&top, top.JoinPath(c.Key).String(), pins.File{Platform: platform, Size: c.Size})
			if err != nil {
				return wrong(err)
			}
			all = append(all, listed{v, f})
		}
		if !b.Truncated {
			return all, standsIn, nil
		}
		if b.Next == "" || b.Next == query.Get("continuation-token") {
			return wrong(fmt.Errorf("it goes on, and does not say where"))
		}
		query.Set("continuation-token", b.Next)
	}
	return wrong(fmt.Errorf("it has more than %d pages: give a prefix", maxPages))
}

// A versionGlob is a glob in which {version} stands for the version: anything
// that begins with a letter or digit and has no slash.
type versionGlob struct {
	glob string
	re   *regexp.Regexp // nil without {version}
}

func newVersionGlob(sel string) (*versionGlob, error) {
	if sel == "" {
		sel = "*"
	}
	if !strings.Contains(sel, "{version}") {
		if _, err := path.Match(sel, ""); err != nil {
			return nil, fmt.Errorf("select %q is no glob", sel)
		}
		return &versionGlob{glob: sel}, nil
	}
	var b strings.Builder
	b.WriteString("^")
	for i, part := range strings.Split(sel, "{version}") {
		switch {
		case i == 1:
			b.WriteString(`([0-9A-Za-z][^/-]*)`)
		case i > 1:
			return nil, fmt.Errorf("select %q has {version} twice", sel)
		}
		for _, r := range part {
			switch r {
			case '*':
				b.WriteString(`[^/]*`)
			case '?':
				b.WriteString(`[^/]`)
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
	}
	b.WriteString("$")
	re, err := regexp.Compile(b.String())
	return &versionGlob{re: re}, err
}

func (g *versionGlob) match(name string) (version string, ok bool) {
	if g.re == nil {
		ok, _ := path.Match(g.glob, name)
		return "", ok
	}
	m := g.re.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return m[1], true
}
