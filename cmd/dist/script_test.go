// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain/toolchaintest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"dist": func() { os.Exit(cli.Main(newRoot(), verdict.ExitCode)) },
	})
}

func TestScripts(t *testing.T) {
	var caches []string // dist notice asks go, which has no home in a script
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatalf("go env %s: %v", name, err)
		}
		caches = append(caches, name+"="+strings.TrimSpace(string(out)))
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DIST_CACHE", env.WorkDir+"/cache")
			env.Setenv("ONEBIT_REQUIRE", "") // what .ci/run requires is not the scripts' affair
			env.Vars = append(env.Vars, caches...)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":         status,
			"debian-archive": debianArchive,
		},
	})
}

// debianArchive writes the pool of a small archive into a folder, and its
// packages as the lock of a pin's file: debian-archive FOLDER FILE.
func debianArchive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: debian-archive FOLDER FILE")
	}
	lock := pins.Lock{Version: "12.15", Date: time.Date(2026, 7, 11, 10, 16, 37, 0, time.UTC)}
	for _, d := range toolchaintest.Base() {
		f := d.Locked()
		lock.Files = append(lock.Files, f)
		path := filepath.Join(ts.MkAbs(args[0]), filepath.FromSlash(f.Path))
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
		ts.Check(os.WriteFile(path, d.Bytes(), 0o666))
	}
	file := ts.MkAbs(args[1])
	text, err := os.ReadFile(file)
	ts.Check(err)
	text, err = pins.WriteLock(text, lock)
	ts.Check(err)
	ts.Check(os.WriteFile(file, text, 0o666))
}

// status runs a program and checks its exit code: status 2 dist pins show x.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE PROGRAM ARG...")
	}
	code := "0"
	err := ts.Exec(args[1], args[2:]...)
	var exit interface{ ExitCode() int }
	if err != nil {
		var ok bool
		if exit, ok = err.(interface{ ExitCode() int }); !ok {
			ts.Fatalf("%v", err)
		}
		code = fmt.Sprint(exit.ExitCode())
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}
