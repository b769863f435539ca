// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// The module, from here, and what stands in for the files that an engine writes.
const (
	rootDir    = "../../.."
	moduleDir  = rootDir + "/pipelines/dagger"
	standinDir = moduleDir + "/testdata/standin"
)

// generated are the files of the module that an engine writes, beside the folder
// internal.
var generated = []string{"dagger.gen.go"}

// moduleFiles are the module's own Go files.
func moduleFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(moduleDir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return slices.Contains(generated, filepath.Base(f)) })
	if len(files) == 0 {
		t.Fatal("the module has no Go files")
	}
	return files
}

// TestModuleVets type-checks and vets the Dagger module with no engine: a copy of
// it, with types of the SDK in the place of the client that an engine would write,
// and with what the root module requires, which is at hand. (go vet -overlay would
// do, but wants the folder of each package to be there.)
func TestModuleVets(t *testing.T) {
	if out, err := vetModule(t, nil); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := vetModule(t, map[string]string{"broken.go": "package main\n\nfunc broken() string { return dag.Container() }\n"})
	if err == nil || !strings.Contains(out, "broken.go:3") {
		t.Fatalf("a call with the wrong type passes: %v\n%s", err, out)
	}
}

// vetModule vets the module with further files, by name.
func vetModule(t *testing.T, more map[string]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	add := func(name, from string) {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	for _, f := range moduleFiles(t) {
		add(filepath.Base(f), f)
	}
	add("dagger.gen.go", standinDir+"/dag.go")
	add("internal/dagger/dagger.gen.go", standinDir+"/dagger/dagger.go")
	for name, text := range more {
		files[name] = text
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	moduleGoMod(t, dir)
	cmd := exec.Command("go", "vet", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// moduleGoMod writes a go.mod for the module with the requirements of the root,
// and the go.sum beside it.
func moduleGoMod(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs(rootDir)
	if err != nil {
		t.Fatal(err)
	}
	f := parseMod(t, rootDir+"/go.mod")
	engine := f.Module.Mod.Path
	for _, err := range []error{
		f.AddModuleStmt(parseMod(t, moduleDir+"/go.mod").Module.Mod.Path),
		f.AddRequire(engine, "v0.0.0"),
		f.AddReplace(engine, "", root, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := f.Format()
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(rootDir + "/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"go.mod": text, "go.sum": sums} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func parseMod(t *testing.T, file string) *modfile.File {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(file, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestModuleKeepsTheRules holds that nothing enters a container but what dist
// fetch verified.
func TestModuleKeepsTheRules(t *testing.T) {
	for _, file := range moduleFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range forbiddenCalls(t, file, string(data)) {
			t.Error(v)
		}
	}
	for _, text := range []string{
		`dag.Git("https://example.com/r.git")`, `dag.HTTP("https://example.com/f")`, `dag.Container().From("debian:12")`,
		`dag.Container().Import(nil)`, `dag.Address("debian:12")`, `dag.CurrentWorkspace()`, `dag.Host()`,
		`dag.Container().WithExec([]string{"sh", "-c", "date"})`, `dag.Container().WithExec([]string{"curl"})`, `dag.Directory().DockerBuild()`,
	} {
		if len(forbiddenCalls(t, "x.go", "package main\nfunc f() { "+text+" }\n")) == 0 {
			t.Errorf("nothing is said against %s", text)
		}
	}
}

// forbidden are methods by which something comes in that no lock names.
var forbidden = []string{"Git", "HTTP", "From", "Import", "Address", "CurrentWorkspace", "CurrentEnv", "Host", "LLM", "DockerBuild", "Build"}

// unlocked are arguments of what would need a shell, or ask a network.
var unlocked = []string{"sh", "-c", "curl", "wget", "apt-get", "pip", "npm"}

func forbiddenCalls(t *testing.T, name, text string) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(forbidden, s.Sel.Name) {
				found = append(found, set.Position(n.Pos()).String()+": the module uses "+s.Sel.Name)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && slices.Contains(unlocked, text) {
				found = append(found, set.Position(n.Pos()).String()+": the module has the argument "+text)
			}
		}
		return true
	})
	return found
}

// TestOneVersion holds that engine, SDK and documents name one version.
func TestOneVersion(t *testing.T) {
	data, err := os.ReadFile(rootDir + "/dagger.json")
	if err != nil {
		t.Fatal(err)
	}
	var config struct{ EngineVersion, Source string }
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	if config.EngineVersion != Version || config.Source != "pipelines/dagger" {
		t.Errorf("dagger.json has the engine %s and the source %s, not %s and pipelines/dagger", config.EngineVersion, config.Source, Version)
	}
	for _, r := range parseMod(t, rootDir+"/go.mod").Require {
		if r.Mod.Path == "dagger.io/dagger" && r.Mod.Version != Version {
			t.Errorf("go.mod requires the SDK %s, not %s", r.Mod.Version, Version)
		}
	}
	page, err := os.ReadFile(rootDir + "/docs/dagger.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bv0\.\d+\.\d+\b`).FindAllString(string(page), -1)
	if len(named) == 0 {
		t.Error("docs/dagger.md names no version")
	}
	for _, v := range named {
		if v != Version {
			t.Errorf("docs/dagger.md names %s, not %s", v, Version)
		}
	}
}
