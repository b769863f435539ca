// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// A Module is a Go module that a go.sum names.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"` // h1: of the zip; empty where only the go.mod is needed
	ModSum  string `json:"mod_sum"`       // h1: of the go.mod
}

func (m Module) String() string { return m.Path + "@" + m.Version }

var h1RE = regexp.MustCompile(`^h1:[A-Za-z0-9+/]{43}=$`)

// ParseGoSum reads a go.sum and returns its modules, sorted. A module with two
// different sums is an error; all are reported at once, as *BadLock.
func ParseGoSum(file string, content []byte) ([]Module, error) {
	if err := checkSize(file, content); err != nil {
		return nil, err
	}
	var errs []error
	byID := map[module.Version]*Module{}
	for i, line := range strings.Split(string(content), "\n") {
		bad := func(format string, args ...any) {
			errs = append(errs, &BadLock{file, i + 1, fmt.Sprintf(format, args...)})
		}
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 {
			bad("%q is no module, version and sum", line)
			continue
		}
		version, isMod := strings.CutSuffix(f[1], "/go.mod")
		if err := module.Check(f[0], version); err != nil {
			bad("%v", err)
			continue
		}
		if !h1RE.MatchString(f[2]) {
			bad("%q is no h1: sum", f[2])
			continue
		}
		id := module.Version{Path: f[0], Version: version}
		m := byID[id]
		if m == nil {
			m = &Module{Path: f[0], Version: version}
			byID[id] = m
		}
		sum := &m.Sum
		if isMod {
			sum = &m.ModSum
		}
		if *sum != "" && *sum != f[2] {
			bad("%s has two different sums", m)
		}
		*sum = f[2]
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	list := make([]Module, 0, len(byID))
	for _, m := range byID {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Module) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		if c := semver.Compare(a.Version, b.Version); c != 0 {
			return c
		}
		return strings.Compare(a.Version, b.Version)
	})
	return list, nil
}

// CheckGoMod reports what a go.mod requires and go.sum has no sum for. The
// modules that replace directives put in their place are meant; folders need
// none.
func CheckGoMod(file string, content []byte, sums []Module) error {
	f, err := modfile.Parse(file, content, nil)
	if err != nil {
		return err
	}
	have := map[module.Version]bool{}
	for _, m := range sums {
		have[module.Version{Path: m.Path, Version: m.Version}] = m.ModSum != "" || m.Sum != ""
	}
	var errs []error
	for _, r := range f.Require {
		v, local := r.Mod, false
		for _, re := range f.Replace {
			if re.Old.Path == v.Path && (re.Old.Version == "" || re.Old.Version == v.Version) {
				v, local = re.New, re.New.Version == ""
				break
			}
		}
		if !local && !have[v] {
			errs = append(errs, &BadLock{file, r.Syntax.Start.Line, fmt.Sprintf("%s is required, and go.sum has no sum of it", v)})
		}
	}
	return errors.Join(errs...)
}

// ZipPath and ModPath are the files' places below a module proxy's address.
func (m Module) ZipPath() (string, error) { return m.proxyPath(".zip") }

// ModPath is the place of the go.mod; see ZipPath.
func (m Module) ModPath() (string, error) { return m.proxyPath(".mod") }

func (m Module) proxyPath(end string) (string, error) {
	p, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	v, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", err
	}
	return p + "/@v/" + v + end, nil
}

// VerifyZip checks a module's zip: its sum, and that it is a zip of this
// module. The error is a *Mismatch where the sum is wrong.
func (m Module) VerifyZip(file string) error {
	if m.Sum == "" {
		return fmt.Errorf("module %s: go.sum has no sum of its zip", m)
	}
	have, err := dirhash.HashZip(file, dirhash.Hash1)
	if err != nil {
		return fmt.Errorf("module %s: %w", m, err)
	}
	if have != m.Sum {
		return &Mismatch{"module " + m.String(), m.Sum, have}
	}
	checked, err := zip.CheckZip(module.Version{Path: m.Path, Version: m.Version}, file)
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		return fmt.Errorf("module %s: %w", m, err)
	}
	return nil
}

// VerifyMod checks a go.mod. The error is a *Mismatch where the sum is wrong.
func (m Module) VerifyMod(content []byte) error {
	have, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	})
	if err != nil {
		return err
	}
	if have != m.ModSum {
		return &Mismatch{"go.mod of module " + m.String(), m.ModSum, have}
	}
	return nil
}

// WriteGoProxy makes the folder target a module proxy, for GOPROXY=file://…,
// with the modules of the list. mod gives a module's go.mod, zipFile the path
// of its zip; it is asked for those that have a sum. Both are checked. Files
// get mtime, which is also the time that the proxy states for each version. On
// an error target is not there.
func WriteGoProxy(target string, list []Module, mtime time.Time, mod func(Module) ([]byte, error), zipFile func(Module) (string, error)) error {
	return makeFolder(target, mtime, func(dir string) error {
		versions := map[string][]string{}
		for _, m := range list {
			if err := proxyModule(dir, m, mtime, mod, zipFile); err != nil {
				return fmt.Errorf("module proxy: %w", err)
			}
			versions[m.Path] = append(versions[m.Path], m.Version)
		}
		for p, v := range versions {
			escaped, err := module.EscapePath(p)
			if err != nil {
				return err
			}
			slices.SortFunc(v, semver.Compare)
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(escaped), "@v", "list"), []byte(strings.Join(v, "\n")+"\n"), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}

func proxyModule(dir string, m Module, mtime time.Time, mod func(Module) ([]byte, error), zipFile func(Module) (string, error)) error {
	base, err := m.proxyPath("")
	if err != nil {
		return err
	}
	base = filepath.Join(dir, filepath.FromSlash(base))
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return err
	}
	if m.ModSum != "" {
		content, err := mod(m)
		if err != nil {
			return err
		}
		if err := m.VerifyMod(content); err != nil {
			return err
		}
		if err := os.WriteFile(base+".mod", content, 0o644); err != nil {
			return err
		}
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.Version, mtime.UTC()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+".info", info, 0o644); err != nil {
		return err
	}
	if m.Sum == "" {
		return nil
	}
	from, err := zipFile(m)
	if err != nil {
		return err
	}
	if err := copyFile(base+".zip", from); err != nil {
		return err
	}
	return m.VerifyZip(base + ".zip") // of the copy: the file may have changed
}

func copyFile(to, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}
