// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package parts finds the real programs and files that tests use: a real
// llama-server, a Vulkan driver without a GPU, a compiler that knows gfx1151.
// It is for tests, and for dist parts, which lists what this machine has.
//
// A test asks for a part with Need. Each use or absence is one line of a fixed
// form in the test's log, which dist ci summarize counts. Where a part is
// absent the test is skipped, unless ONEBIT_REQUIRE names the part: then the
// test fails. So a plain go test needs nothing, and a machine that should have
// a part cannot lose it unseen.
package parts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/1bit-MONSTER/engine/internal/run"
)

// RequireEnv names the environment variable with the required parts,
// separated by commas.
const RequireEnv = "ONEBIT_REQUIRE"

// A Part is a known part as it was looked for on this machine.
type Part struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`    // absolute; empty when absent
	Version string `json:"version,omitempty"` // one line, as the part says it
	Absent  string `json:"absent,omitempty"`  // how to get it, or what is wrong with it
}

// Present reports whether the part can be used.
func (p Part) Present() bool { return p.Path != "" && p.Absent == "" }

// TB is what Need uses of testing.TB.
type TB interface {
	Helper()
	Context() context.Context
	Logf(format string, args ...any)
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Need returns the part of the given name, or ends the test: skipped, or
// failed where ONEBIT_REQUIRE names the part or the name is not a known one.
func Need(t TB, name string) Part {
	t.Helper()
	k, ok := known[name]
	if !ok {
		t.Fatalf("part %s: unknown: add it to internal/parts/known.go", name)
	}
	p := find(t.Context(), name, k)
	if !p.Present() {
		if slices.Contains(Required(), name) {
			t.Fatalf("part %s: absent: %s (%s names it)", name, p.Absent, RequireEnv)
		}
		t.Skipf("part %s: absent: %s", name, p.Absent)
	}
	t.Logf("part %s: used: %s", name, p.Version)
	return p
}

// Required returns the names in ONEBIT_REQUIRE.
func Required() []string {
	return strings.FieldsFunc(os.Getenv(RequireEnv), func(r rune) bool { return r == ',' || r == ' ' })
}

// All looks for every known part, in the order of their names.
func All(ctx context.Context) []Part {
	names := Names()
	list := make([]Part, len(names))
	var all sync.WaitGroup // some, npm among them, take a second to say their version
	for i, name := range names {
		all.Go(func() { list[i] = find(ctx, name, known[name]) })
	}
	all.Wait()
	return list
}

// Names returns the names of the known parts, sorted.
func Names() []string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Env returns the name of the environment variable that says where a part is.
func Env(name string) string {
	return "ONEBIT_TEST_" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, name)
}

func find(ctx context.Context, name string, k part) Part {
	p := Part{Name: name}
	if stated := os.Getenv(Env(name)); stated != "" {
		if _, err := os.Stat(stated); err != nil {
			p.Absent = fmt.Sprintf("%s=%s is not there", Env(name), stated)
			return p
		}
		p.Path = stated
	} else {
		p.Path = k.look()
	}
	if p.Path == "" {
		p.Absent = k.get()
		return p
	}
	if abs, err := filepath.Abs(p.Path); err == nil {
		p.Path = abs
	}
	version, err := k.readVersion(ctx, p.Path)
	if err != nil {
		p.Absent = "it does not say its version: " + oneLine(err.Error())
		return p
	}
	p.Version = version
	return p
}

func (k part) look() string {
	for _, program := range k.programs {
		if path, err := exec.LookPath(program); err == nil {
			return path
		}
	}
	for _, pattern := range k.files {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// readVersion takes the first line with the part's prefix that the program
// prints. It asks the program itself; for a file, what a file beside it with
// the same name and .version says, or Debian's records.
func (k part) readVersion(ctx context.Context, path string) (string, error) {
	if beside, err := os.ReadFile(path + ".version"); err == nil && len(k.version) == 0 {
		return oneLine(string(beside)), nil
	}
	cmd := run.Command{Path: path, Args: k.version}
	if len(k.version) == 0 {
		cmd = run.Command{Path: "dpkg-query", Args: []string{"--show", "--showformat=${Version}", k.debian}}
	}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "LC_ALL=C"}
	cmd.Timeout = 30 * time.Second
	res, err := cmd.Run(ctx)
	if err != nil {
		return "", err
	}
	for _, out := range [][]byte{res.Stdout, res.Stderr} { // llama-server says it on stderr
		for line := range strings.SplitSeq(string(out), "\n") {
			if line = strings.TrimSpace(line); line != "" && strings.HasPrefix(line, k.prefix) {
				return line, nil
			}
		}
	}
	return "", fmt.Errorf("%s printed no version", cmd.Line())
}

// oneLine returns the first line that says something, so that a log line of
// this package is one line.
func oneLine(s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
