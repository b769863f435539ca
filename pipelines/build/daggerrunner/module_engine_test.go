// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package daggerrunner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
)

// functions are those of the module, as the command names them.
var functions = []string{"build", "check", "pins", "plan", "rebase", "rehearse", "release-assets", "reproduce", "test"}

// TestModuleOnAnEngine calls the module as a user does and compares with dist on
// this machine. It takes minutes where the engine remembers nothing.
func TestModuleOnAnEngine(t *testing.T) {
	if os.Getenv(engineEnv) != "1" {
		t.Skipf("it needs a Dagger engine: %s is not 1", engineEnv)
	}
	dist := built(t, "../../../cmd/dist")
	dir := t.TempDir()
	t.Cleanup(func() { rmtree.All(filepath.Join(dir, "inputs")) })
	inputs := filepath.Join(dir, "inputs")
	call(t, dist, "fetch", "--for", "serve", "--to", inputs)

	dagger := cmp.Or(os.Getenv(commandVariable), "dagger")
	list := call(t, dagger, "functions")
	for _, name := range functions {
		if !strings.Contains(list, "\n"+name+" ") {
			t.Errorf("dagger functions does not list %s:\n%s", name, list)
		}
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, dagger, "call", "--inputs", empty, "plan").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "fetch --for serve") {
		t.Errorf("without inputs: %v\n%s", err, out)
	}
	if pins := call(t, dagger, "call", "--inputs", inputs, "pins"); !strings.Contains(pins, "llama-vulkan") {
		t.Error(pins)
	}

	// What is built, and from what, is the same.
	key := func(text string) string {
		t.Helper()
		var plan struct{ Components []struct{ Key string } }
		if err := json.Unmarshal([]byte(text), &plan); err != nil || len(plan.Components) != 1 || plan.Components[0].Key == "" {
			t.Fatalf("%v\n%s", err, text)
		}
		return plan.Components[0].Key
	}
	there, here := key(call(t, dagger, "call", "--inputs", inputs, "plan", "--as-json")), key(call(t, dist, "build", "serve", "--plan", "--json"))
	if there != here {
		t.Errorf("the module plans %s, dist plans %s", there, here)
	}
	to := filepath.Join(dir, "out")
	call(t, dagger, "call", "--inputs", inputs, "release-assets", "export", "--path", to)
	record, err := os.ReadFile(filepath.Join(to, "build.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs struct{ Component, SHA256, Archive string }
	if err := json.Unmarshal(record, &theirs); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(call(t, dist, "build", "--json", "--out", filepath.Join(dir, "host"))), &ours); err != nil {
		t.Fatal(err)
	}
	if ours.Component != theirs.Component || ours.Component == "" {
		t.Errorf("the module built %s, dist built %s", theirs.Component, ours.Component)
	}
	sums, err := os.ReadFile(filepath.Join(to, "SHA256SUMS"))
	if err != nil || string(sums) != theirs.SHA256+"  "+filepath.Base(theirs.Archive)+"\n" {
		t.Errorf("SHA256SUMS is %q, %v", sums, err)
	}
	if _, err := os.Stat(filepath.Join(to, filepath.Base(theirs.Archive))); err != nil {
		t.Error(err)
	}
}

// command is a program started at the root of the repository.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = rootDir
	// What it may print of itself would be among what a function returns.
	cmd.Env = append(slices.Clone(os.Environ()), trackVariable+"=1", "DAGGER_NO_NAG=1", "NO_COLOR=1", "DAGGER_PROGRESS=plain")
	return cmd
}

// call returns what a program that must succeed printed on stdout.
func call(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := command(t, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
