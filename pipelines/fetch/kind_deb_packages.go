// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ulikunitz/xz"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// debComponent is the only part of the archive that is used: free software.
const debComponent = "main"

// A debSource is one suite with its packages.
type debSource struct {
	release  *debRelease
	index    string // name of the packages' list below the suite
	file     string // where it lies here
	packages []debPackage
}

// A debPackage is what an archive says of one.
type debPackage struct {
	name, version, arch string
	essential           bool
	path, sha256        string
	size                int64
}

func (p debPackage) locked() pins.File {
	return pins.File{Name: p.name, Version: p.version, Platform: p.arch, Path: p.path, SHA256: p.sha256, Size: p.size}
}

// debSources returns the suite's release and, last, the pocket.
func (e *Engine) debSources(ctx context.Context, a *debArchive, suite string, pocket pins.Pocket, arch string) ([]*debSource, error) {
	if err := checkDebWord("architecture", arch); err != nil {
		return nil, err
	}
	suites := []string{suite}
	if s := debSuite(suite, pocket); s != suite {
		suites = append(suites, s)
	}
	var all []*debSource
	for _, s := range suites {
		r, err := e.debRelease(ctx, a, s)
		if err != nil {
			return nil, err
		}
		one, err := e.debPackages(ctx, a, r, arch)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// debPackages brings the list of a suite's packages here, by the sum that the
// signed InRelease has for it.
func (e *Engine) debPackages(ctx context.Context, a *debArchive, r *debRelease, arch string) (*debSource, error) {
	s := &debSource{release: r}
	var ix debIndex
	for _, end := range []string{".xz", ".gz"} {
		s.index = debComponent + "/binary-" + arch + "/Packages" + end
		var ok bool
		if ix, ok = r.files[s.index]; ok {
			break
		}
	}
	if ix.sha256 == "" {
		return nil, verdict.Failf("the suite %s has no packages for %s", r.suite, arch)
	}
	where := "dists/" + r.suite + "/" + s.index
	if r.byHash {
		where = path.Dir(where) + "/by-hash/SHA256/" + ix.sha256
	}
	dir, err := e.cache("deb")
	if err != nil {
		return nil, err
	}
	s.file = filepath.Join(dir, ix.sha256)
	want := httpget.Expect{SHA256: ix.sha256, Size: ix.size}
	if httpget.Check(s.file, want) != nil {
		place := a.place(r.suite, where)
		part, _, err := e.download(ctx, download{name: "the packages of " + r.suite, place: &place, url: place.URL, expect: want})
		if err != nil {
			return nil, fmt.Errorf("the packages of %s: %w", r.suite, err)
		}
		if err := moveFile(part, s.file); err != nil {
			return nil, store.Explain(err, e.CacheDir)
		}
	}
	if s.packages, err = readPackages(s.file, strings.HasSuffix(s.index, ".gz")); err != nil {
		return nil, verdict.Failf("the packages of %s: %w", r.suite, err)
	}
	return s, nil
}

// maxPackages bounds a list of packages once it is unpacked, in bytes.
const maxPackages = 1 << 30

func readPackages(file string, gz bool) ([]debPackage, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader
	if gz {
		in, err = gzip.NewReader(bufio.NewReader(f))
	} else {
		in, err = xz.NewReader(bufio.NewReader(f))
	}
	if err != nil {
		return nil, err
	}
	return parsePackages(io.LimitReader(in, maxPackages))
}

// parsePackages reads the fields that are needed of each stanza.
func parsePackages(r io.Reader) ([]debPackage, error) {
	var all []debPackage
	in := bufio.NewScanner(r)
	in.Buffer(nil, 4<<20)
	var p debPackage
	end := func() error {
		if p == (debPackage{}) {
			return nil
		}
		if err := p.check(); err != nil {
			return err
		}
		all, p = append(all, p), debPackage{}
		return nil
	}
	for in.Scan() {
		line := in.Text()
		if line == "" {
			if err := end(); err != nil {
				return nil, err
			}
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "Package":
			p.name = value
		case "Version":
			p.version = value
		case "Architecture":
			p.arch = value
		case "Essential":
			p.essential = value == "yes"
		case "Filename":
			p.path = strings.TrimPrefix(value, "./")
		case "SHA256":
			p.sha256 = value
		case "Size":
			p.size, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return all, end()
}

func (p debPackage) check() error {
	switch {
	case checkDebWord("package", p.name) != nil:
		return fmt.Errorf("a package has the name %q", shown(p.name))
	case checkDebWord("architecture", p.arch) != nil, p.version == "" || strings.ContainsAny(p.version, " /\\\t"):
		return fmt.Errorf("the package %s has a version or architecture that can not be read", p.name)
	case !isSHA256(p.sha256) || p.size <= 0:
		return fmt.Errorf("the package %s has no sha256 or size", p.name)
	case path.Clean("/"+p.path) != "/"+p.path || p.path == "":
		return fmt.Errorf("the package %s has the path %q", p.name, shown(p.path))
	}
	return nil
}

// namedDeb picks packages by their names alone; of several the newest version,
// by Debian's order, from the last of the sources that has one.
func namedDeb(sources []*debSource, suite string, packages []string) ([]pins.File, error) {
	schemes, err := pins.NewSchemes(&pins.Track{Schemes: []pins.Scheme{{Pattern: "{debian}"}}, Prerelease: pins.PrereleaseYes})
	if err != nil {
		return nil, err
	}
	var files []pins.File
	for _, name := range packages {
		var best *debPackage
		for _, s := range slices.Backward(sources) {
			for i, p := range s.packages {
				if p.name != name {
					continue
				}
				if best == nil {
					best = &s.packages[i]
				} else if c, err := schemes.Compare(p.version, best.version); err == nil && c > 0 {
					best = &s.packages[i]
				}
			}
		}
		if best == nil {
			return nil, verdict.Failf("%s has no package %s", suite, shown(name))
		}
		files = append(files, best.locked())
	}
	slices.SortFunc(files, func(a, b pins.File) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(files), nil
}
