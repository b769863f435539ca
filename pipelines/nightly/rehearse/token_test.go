// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// The token that the proposer has. It is no real one.
const (
	tokenEnv = "REHEARSE_TEST_TOKEN"
	token    = "rehearse-token-6c1f0a4be2"
)

// scanPin is a toolchain that has nothing but the program scan.
const scanPin = header + `name: tools
what: the program that looks for the token
license: Apache-2.0
copyright: ["2026 The 1bit engine authors"]
use: build-tool
track: {kind: oci, image: images.invalid/tools, tag: one, platform: linux-amd64, every: never}
lock: {digest: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}
`

// scanRecipes builds hello with a step that looks for the token.
func scanRecipes() []*build.Recipe {
	backwards := []byte(token)
	slices.Reverse(backwards)
	return []*build.Recipe{{
		Name: "hello", What: "a step that looks for the token", Pins: []string{"hello"}, Toolchain: "tools",
		Steps:   []build.Step{{Name: "scan", Args: []string{"/bin/scan", string(backwards), "/out/seen"}}},
		Outputs: []string{"seen"},
	}}
}

// scanWorld is a world whose pin hello goes into the recipe that scans; it
// returns the program too.
func scanWorld(t *testing.T) (*World, string) {
	t.Helper()
	w := copyOf(t, "scan", func(ctx context.Context, dir string) (*World, error) {
		files := Common()
		files["pins/hello.yaml"] = PinFile("hello", "a program", followMain, "")
		files["pins/tools.yaml"] = scanPin
		return NewWorld(ctx, dir, Distribution{Files: files, Upstreams: func(w *World) error {
			_, err := w.push(ctx, "hello", "Begin", Files{"main.go": helloMain("hello")})
			return err
		}})
	})
	program := filepath.Join(t.TempDir(), "scan")
	c := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./testdata/scan")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build scan: %v: %s", err, out)
	}
	p, err := pins.Parse([]byte(scanPin), "pins/tools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := toolchain.Sum(p)
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.KeyOf(sum)
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Engine()
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Store.Put(t.Context(), key, store.Maker{
		Kind: "toolchain", Name: "tools",
		Fill: func(_ context.Context, dir string) error {
			data, err := os.ReadFile(program)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir+"/bin", 0o777); err != nil {
				return err
			}
			return os.WriteFile(dir+"/bin/scan", data, 0o777)
		},
		Check: func(string, string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, program
}

// A whole live night runs in one process that has the proposer's token in its
// environment. Upstream code that looks for it in every environment and every
// file that it can reach finds nothing.
func TestTokenIsOutOfReachOfUpstreamCode(t *testing.T) {
	t.Parallel()
	var unavailable *sandbox.Unavailable
	if _, err := build.NewHostRunner(t.Context(), build.Sandboxed); errors.As(err, &unavailable) {
		t.Skipf("skipped: %v", err)
	}
	w, program := scanWorld(t)
	w.must(t, "hello", Files{"main.go": helloMain("good morning")})
	cmd, out, errs := w.start(t, job{Groups: []string{"hello"}, TokenEnv: tokenEnv, Scan: true}, tokenEnv+"="+token)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the night: %v\n%s", err, errs)
	}
	if !strings.Contains(out.String(), `"state":"wait"`) {
		t.Errorf("the night proposed nothing, so its steps did not all run: %s", out)
	}
	if text := out.String() + errs.String(); strings.Contains(text, token) {
		t.Errorf("the token is in what the night printed")
	}
	// Nor is it anywhere in what the night left.
	backwards := scanRecipes()[0].Steps[0].Args[1]
	scan := func(env ...string) (string, error) {
		c := exec.CommandContext(t.Context(), program, backwards, filepath.Join(t.TempDir(), "seen"))
		c.Env = append(env, "SCAN="+w.Dir)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if text, err := scan(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	// The same program does find it where it is.
	if text, err := scan(tokenEnv + "=" + token); err == nil || !strings.Contains(text, "FOUND in /proc/") {
		t.Errorf("the program that looks for the token is blind: %v: %s", err, text)
	}
}
