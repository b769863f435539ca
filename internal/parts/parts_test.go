// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// fake records what Need does to a test; like testing.T it ends the goroutine.
type fake struct{ how, text string }

func (f *fake) Helper()                           {}
func (f *fake) Context() context.Context          { return context.Background() }
func (f *fake) Logf(format string, args ...any)   { f.how, f.text = "log", fmt.Sprintf(format, args...) }
func (f *fake) Skipf(format string, args ...any)  { f.end("skip", format, args) }
func (f *fake) Fatalf(format string, args ...any) { f.end("fatal", format, args) }
func (f *fake) end(how, format string, args []any) {
	f.how, f.text = how, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func need(name string) *fake {
	f := &fake{}
	done := make(chan struct{})
	go func() { defer close(done); Need(f, name) }()
	<-done
	return f
}

func TestNeed(t *testing.T) {
	dir := t.TempDir()
	program := func(name, script string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program("llama-server", "echo; echo 'version: 7' >&2")
	program("bwrap", "exit 3")
	stated := program("elsewhere", "echo load_backend: x; echo version: 1; echo more")
	for _, c := range []struct {
		what, name, env, value string
		how, text              string
	}{
		{"on PATH, version on stderr", "llama-server", "", "", "log", "part llama-server: used: version: 7"},
		{"by its variable", "llama-bench", "ONEBIT_TEST_LLAMA_BENCH", stated, "log", "part llama-bench: used: version: 1"},
		{"variable names nothing", "llama-bench", "ONEBIT_TEST_LLAMA_BENCH", "/nowhere/x", "skip", "part llama-bench: absent: ONEBIT_TEST_LLAMA_BENCH=/nowhere/x is not there"},
		{"absent", "glslc", "", "", "skip", "part glslc: absent: Debian's package glslc"},
		{"absent, moving suite", "llama-bench", "", "", "skip", "part llama-bench: absent: Debian's package llama.cpp-tools of forky"},
		{"absent and required", "glslc", "ONEBIT_REQUIRE", "git,glslc", "fatal", "part glslc: absent: Debian's package glslc (ONEBIT_REQUIRE names it)"},
		{"absent, another one required", "glslc", "ONEBIT_REQUIRE", "git", "skip", "part glslc: absent: Debian's package glslc"},
		{"broken", "bwrap", "", "", "skip", "part bwrap: absent: it does not say its version: " + dir + "/bwrap --version: exit status 3"},
		{"unknown", "teapot", "", "", "fatal", "part teapot: unknown: add it to internal/parts/known.go"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Setenv("PATH", dir)
			t.Setenv(RequireEnv, "")
			if c.env != "" {
				t.Setenv(c.env, c.value)
			}
			if f := need(c.name); f.how != c.how || f.text != c.text {
				t.Errorf("Need: %s %q\nwant %s %q", f.how, f.text, c.how, c.text)
			}
		})
	}
}

func TestEveryKnownPartCanBeFoundAndGot(t *testing.T) {
	for name, k := range known {
		if len(k.programs)+len(k.files) == 0 && k.other == "" || k.get() == "" {
			t.Errorf("part %s: nothing says how to find or get it", name)
		}
		if len(k.version) == 0 && k.debian == "" {
			t.Errorf("part %s: nothing says its version", name)
		}
	}
}
