// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"github.com/1bit-MONSTER/engine/internal/run"
)

// Modules returns the Go modules that go.mod at root requires. How each is
// used is what the compiler would link on linux/amd64, so that the answer is
// the same on every machine. What only tests link is not told from what other
// systems would link: that depends on the version of Go. Copyright and licence
// are read from the module's own files in the module cache.
func Modules(ctx context.Context, root string) ([]Component, error) {
	use := map[string]Use{}
	for _, q := range []struct {
		use  Use
		args []string
	}{
		{DistOnly, []string{"./cmd/..."}},
		{Linked, []string{"./cmd/1bit"}},
	} {
		if q.use == Linked {
			if _, err := os.Stat(filepath.Join(root, "cmd", "1bit")); err != nil {
				continue
			}
		}
		out, err := goCommand(ctx, root, append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, q.args...)...)
		if err != nil {
			return nil, err
		}
		for module := range strings.FieldsSeq(string(out)) {
			use[module] = q.use
		}
	}
	// Without arguments it gives exactly the modules in go.mod, from the cache
	// when they are there.
	out, err := goCommand(ctx, root, "mod", "download", "-json")
	if err != nil {
		return nil, err
	}
	scanner, err := newScanner()
	if err != nil {
		return nil, err
	}
	var list []Component
	var problems []error
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir, Error string }
		if err := dec.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the answer of go mod download: %w", err)
		}
		if m.Error != "" {
			return nil, fmt.Errorf("module %s: %s", m.Path, m.Error)
		}
		c := Component{Name: m.Path, Where: "https://pkg.go.dev/" + m.Path, Version: m.Version, Use: use[m.Path]}
		if c.Use == "" {
			c.Use = TestsOnly
		}
		if err := c.readLicense(m.Dir, scanner); err != nil {
			problems = append(problems, fmt.Errorf("module %s: %w", m.Path, err))
		}
		list = append(list, c)
	}
	return list, errors.Join(problems...)
}

// goCommand runs go as the caller has it set up, for a fixed system.
func goCommand(ctx context.Context, root string, args ...string) ([]byte, error) {
	var complaint bytes.Buffer
	res, err := run.Command{
		Path: "go", Args: args, Dir: root, Stderr: &complaint,
		Env: append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off"),
	}.Run(ctx)
	return res.Stdout, err
}

var (
	licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-.].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^notice(\.(txt|md))?$`)
	// A copyright line names a year or has the sign; "copyright notice" and
	// the blanks of the Apache licence's appendix are not lines of that kind.
	copyrightLine = regexp.MustCompile(`(?i)^[\s/*#;-]*(?:(?:copyright|\(c\)|©)[:\s]+(?:\(c\)\s*|©\s*)?(\d{4}[^\[\]{}]*)|copyright\s+(?:\(c\)|©)\s+([^\[\]{}]+))$`)
)

// licenses are those that a module may have: we know what each asks of us, and
// NOTICE does it. One that is not here is an error, to be looked at by a
// person. (A scanner for all licences that there are takes a second to make.)
var licenses = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unlicense", "Zlib"}

func newScanner() (*licensecheck.Scanner, error) {
	return licensecheck.NewScanner(slices.DeleteFunc(licensecheck.BuiltinLicenses(), func(l licensecheck.License) bool {
		return l.LRE == "" || !slices.Contains(licenses, l.ID)
	}))
}

// wellCovered is the share of a licence file, in percent, that must be the
// text of known licences. Copyright lines and headings are the rest.
const wellCovered = 60

// readLicense fills in what the files in the module's top folder say.
func (c *Component) readLicense(dir string, scanner *licensecheck.Scanner) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var ids []string
	for _, e := range entries {
		// LICENSE.docs is for a project's documents, which we do not take.
		if !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".go") || e.Name() == "LICENSE.docs" || !licenseFile.MatchString(e.Name()) && !noticeFile.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		c.Copyright = append(c.Copyright, copyrights(data)...)
		text := Text{c.Name + " " + c.Version + ": " + e.Name(), normal(data)}
		if noticeFile.MatchString(e.Name()) {
			c.Texts = append(c.Texts, text)
			continue
		}
		cover := scanner.Scan(data)
		if cover.Percent < wellCovered {
			return fmt.Errorf("%s is %.0f%% of a licence that we accept: read it, and see licenses in pipelines/check/modules.go", e.Name(), cover.Percent)
		}
		for _, m := range cover.Match {
			ids = append(ids, m.ID)
		}
		// Our own LICENSE has the text of the Apache licence.
		if len(cover.Match) != 1 || cover.Match[0].ID != "Apache-2.0" {
			c.Texts = append(c.Texts, text)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return errors.New("no licence file")
	}
	c.License = strings.Join(ids, " AND ")
	if len(c.Copyright) == 0 {
		if c.Copyright, err = sourceCopyrights(dir); err != nil {
			return err
		}
	}
	slices.Sort(c.Copyright)
	c.Copyright = slices.Compact(c.Copyright)
	return nil
}

// sourceCopyrights reads the heads of the Go files in the module's top folder.
func sourceCopyrights(dir string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		head, _, _ := bytes.Cut(data, []byte("\npackage "))
		lines = append(lines, copyrights(head)...)
	}
	return lines, nil
}

// copyrights returns who holds the copyright since when, as the lines of a
// text say, without the word and the sign.
func copyrights(data []byte) []string {
	var lines []string
	for line := range strings.SplitSeq(normal(data), "\n") {
		if m := copyrightLine.FindStringSubmatch(line); m != nil {
			lines = append(lines, strings.Join(strings.Fields(strings.TrimSuffix(strings.TrimSpace(m[1]+m[2]), "*/")), " "))
		}
	}
	return lines
}

// normal makes line ends \n and takes blanks from ends of lines and text.
func normal(data []byte) string {
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
