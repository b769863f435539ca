// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Tarball is a package that a package-lock.json names.
type Tarball struct {
	Name      string    `json:"name"` // with its scope: @types/node
	Version   string    `json:"version"`
	URL       string    `json:"url,omitempty"` // where the lock says it is; empty where it does not
	Integrity Integrity `json:"-"`
	Optional  bool      `json:"optional,omitempty"` // everywhere it is used, npm may do without it
}

// Path is the tarball's place below a registry's address.
func (t Tarball) Path() string {
	base := t.Name[strings.LastIndexByte(t.Name, '/')+1:]
	return t.Name + "/-/" + base + "-" + t.Version + ".tgz"
}

// On is the tarball's address on the registry at base. An address of the lock
// file on another registry is not used: the integrity says what must come.
func (t Tarball) On(base string) string { return strings.TrimRight(base, "/") + "/" + t.Path() }

// Verify reads a tarball to its end and checks its integrity.
func (t Tarball) Verify(r io.Reader) (Sum, error) {
	return t.Integrity.Verify("package "+t.Name+"@"+t.Version, r)
}

// lockEntry is an entry of either form of package-lock.json.
type lockEntry struct {
	Name, Version, Resolved, Integrity string
	Link, InBundle, Bundled, Optional  bool
	Dependencies                       map[string]json.RawMessage
}

// maxTree bounds how deep the entries of an old package-lock.json nest.
const maxTree = 100

// ParsePackageLock reads a package-lock.json of version 1 to 3 and returns
// each tarball once, sorted by name and version. Links to folders of the
// project, and packages inside another one's tarball, are left out. A package
// from git or without an integrity is an error; all are reported at once, as
// *BadLock.
func ParsePackageLock(file string, content []byte) ([]Tarball, error) {
	if err := checkSize(file, content); err != nil {
		return nil, err
	}
	var raw struct {
		LockfileVersion int
		Packages        map[string]lockEntry
		Dependencies    map[string]json.RawMessage
	}
	if err := json.Unmarshal(content, &raw); err != nil {
		return nil, &BadLock{file, 0, err.Error()}
	}
	if raw.LockfileVersion < 1 || raw.LockfileVersion > 3 {
		return nil, &BadLock{file, 0, fmt.Sprintf("version %d of the format is not known; this reads 1 to 3", raw.LockfileVersion)}
	}
	r := &lockReader{file: file, byName: map[string]int{}}
	if raw.Packages != nil {
		for key, e := range raw.Packages {
			i := strings.LastIndex("/"+key, "/node_modules/")
			if i < 0 {
				continue // the project and its folders
			}
			name := e.Name // differs from the folder for an alias
			if name == "" {
				name = key[i+len("node_modules/"):]
			}
			r.add(name, e)
		}
	} else {
		r.tree(raw.Dependencies, 0)
	}
	if len(r.errs) > 0 {
		slices.SortFunc(r.errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, errors.Join(r.errs...)
	}
	slices.SortFunc(r.list, func(a, b Tarball) int {
		return strings.Compare(a.Name+" "+a.Version, b.Name+" "+b.Version)
	})
	return r.list, nil
}

type lockReader struct {
	file   string
	list   []Tarball
	byName map[string]int // name, version and integrity: place in list
	errs   []error
}

// tree reads the entries of version 1.
func (r *lockReader) tree(entries map[string]json.RawMessage, depth int) {
	if depth > maxTree {
		r.bad("its entries nest more than %d deep", maxTree)
		return
	}
	for name, raw := range entries {
		var e lockEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			r.bad("%q: %v", name, err)
			continue
		}
		if alias, ok := strings.CutPrefix(e.Version, "npm:"); ok {
			if i := strings.LastIndexByte(alias, '@'); i > 0 {
				name, e.Version = alias[:i], alias[i+1:]
			}
		}
		if strings.HasPrefix(e.Version, "file:") {
			e.Link = true
		}
		r.add(name, e)
		r.tree(e.Dependencies, depth+1)
	}
}

func (r *lockReader) bad(format string, args ...any) {
	r.errs = append(r.errs, &BadLock{r.file, 0, fmt.Sprintf(format, args...)})
}

func (r *lockReader) add(name string, e lockEntry) {
	switch {
	case e.Link || e.InBundle || e.Bundled || strings.HasPrefix(e.Resolved, "file:"):
		return
	case strings.HasPrefix(e.Resolved, "git") || strings.HasPrefix(e.Version, "git") || strings.HasPrefix(e.Version, "github:"):
		r.bad("%s is from git (%s); packages from git are not supported", name, e.Resolved+e.Version)
		return
	}
	if strings.HasPrefix(e.Version, "https://") || strings.HasPrefix(e.Version, "http://") { // version 1, from an address
		e.Resolved = e.Version
		e.Version = "0.0.0-" + strings.TrimSuffix(path.Base(e.Resolved), ".tgz")
	}
	scope, base, scoped := strings.Cut(name, "/")
	if !scoped {
		scope, base = "@x", name
	}
	if !strings.HasPrefix(scope, "@") || !safeName(scope[1:]) || !safeName(base) || !safeName(e.Version) {
		r.bad("%q %q is no name and version of a package", name, e.Version)
		return
	}
	if e.Integrity == "" {
		r.bad("%s %s has no integrity; nothing says what must come", name, e.Version)
		return
	}
	integrity, err := ParseIntegrity(e.Integrity)
	if err != nil {
		r.bad("%s %s: %v", name, e.Version, err)
		return
	}
	if u, err := url.Parse(e.Resolved); e.Resolved != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		r.bad("%s %s: %q is no address", name, e.Version, e.Resolved)
		return
	}
	key := name + "\x00" + e.Version + "\x00" + integrity.String()
	if i, ok := r.byName[key]; ok {
		r.list[i].Optional = r.list[i].Optional && e.Optional
		return
	}
	r.byName[key] = len(r.list)
	r.list = append(r.list, Tarball{name, e.Version, e.Resolved, integrity, e.Optional})
}

// WriteNPMCache makes the folder target a cache of npm that holds the
// tarballs by their sums; npm ci --offline --cache target takes them from
// there for a lock file that has integrity and resolved. open gives the file
// of a tarball; it is checked while it is copied. Files get mtime. On an error
// target is not there.
func WriteNPMCache(target string, list []Tarball, mtime time.Time, open func(Tarball) (io.ReadCloser, error)) error {
	return makeFolder(target, mtime, func(dir string) error {
		for _, t := range list {
			if err := cacheTarball(dir, t, open); err != nil {
				return fmt.Errorf("npm cache: %w", err)
			}
		}
		return nil
	})
}

func cacheTarball(dir string, t Tarball, open func(Tarball) (io.ReadCloser, error)) error {
	r, err := open(t)
	if err != nil {
		return err
	}
	defer r.Close()
	part := filepath.Join(dir, ".part")
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	sum, err := t.Verify(io.TeeReader(r, f))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	x := sum.Hex()
	to := filepath.Join(dir, "_cacache", "content-v2", sum.Algorithm, x[:2], x[2:4], x[4:])
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Rename(part, to)
}
