// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package daggerrunner

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dagger.io/dagger"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// engineEnv is the environment variable that says that there is an engine to
// try these things on.
const engineEnv = "ONEBIT_DAGGER"

// killedEnv makes the test binary a client that is going to be killed:
// dist-step, the folders of toolchain and output, and a new argument.
const killedEnv = "ONEBIT_TEST_KILLED_CLIENT"

func TestMain(m *testing.M) {
	sandbox.Main()
	if args := os.Getenv(killedEnv); args != "" {
		os.Exit(killedClient(filepath.SplitList(args)))
	}
	os.Exit(m.Run())
}

// built compiles a program of this repository as a static one.
func built(t *testing.T, pkg string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// engine returns a runner on a real engine, and the root of a toolchain with the
// test's tool.
func engine(t *testing.T) (r *Runner, root string) {
	t.Helper()
	if os.Getenv(engineEnv) != "1" {
		t.Skipf("%s is not 1: no Dagger engine to try this on", engineEnv)
	}
	parts.Need(t, "dagger")
	step := built(t, "../../../cmd/dist-step")
	r, err := New(t.Context(), Options{Step: func(context.Context) (string, error) { return step, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if r.Space() != build.Sandboxed {
		t.Fatalf("the key space is %q", r.Space())
	}
	return r, toolchainRoot(t)
}

func toolchainRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"bin", "etc", "home/other"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{"bin/tool": read(t, built(t, "./testdata/tool")), "etc/passwd": []byte("other\n")} {
		if err := os.WriteFile(filepath.Join(root, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// toolJob is a job with steps of the tool.
func toolJob(t *testing.T, root string, log *bytes.Buffer, steps ...[]string) build.Job {
	t.Helper()
	j := build.Job{
		Name: "demo", Root: root, Work: t.TempDir(), Out: t.TempDir(), Log: log, Epoch: 1_000_000_000,
		Env: []string{"HOME=" + sandbox.Home, "PATH=/bin", "TZ=UTC"},
	}
	for _, s := range steps {
		j.Steps = append(j.Steps, build.Step{Name: s[0], Args: append([]string{"tool"}, s...)})
	}
	return j
}

// onBoth runs a job on this machine and on the engine. Each gets folders of its
// own for work and output.
func onBoth(t *testing.T, r *Runner, j build.Job) (outs [2]map[string]string, logs [2]string, errs [2]error) {
	t.Helper()
	host, err := build.NewHostRunner(t.Context(), build.Sandboxed)
	if err != nil {
		t.Skipf("no sandbox to compare with: %v", err)
	}
	for i, runner := range []build.Runner{host, r} {
		var log bytes.Buffer
		j.Work, j.Out, j.Log = t.TempDir(), t.TempDir(), &log
		_, errs[i] = runner.Run(t.Context(), j)
		outs[i], logs[i] = tree(t, j.Out), figures.ReplaceAllString(log.String(), "done")
	}
	return outs, logs, errs
}

// figures are what a log says of a step that was done, which differs.
var figures = regexp.MustCompile(`done (in|before).*`)

// tree maps the names in a folder to modes and contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			text += " -> " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += "\n" + string(data)
		}
		rel, err := filepath.Rel(dir, p)
		files[rel] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestEngineShowsAStepTheSame runs a step that writes down all that it sees.
func TestEngineShowsAStepTheSame(t *testing.T) {
	r, root := engine(t)
	source := t.TempDir()
	for name, mode := range map[string]os.FileMode{"file": 0o644, "program": 0o755, "private": 0o600, "sub/deep/file": 0o444} {
		file := filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub/deep/file", filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	j := toolJob(t, root, nil, []string{"look", "/src/demo", "/out/seen"}, []string{"write", "/out/made"}, []string{"look", "/out/made", "/build/seen"})
	j.Binds = []sandbox.Bind{{From: source, To: "/src/demo"}, {From: filepath.Join(source, "file"), To: "/inputs/demo/file"}}
	when := time.Unix(j.Epoch, 0)
	err := filepath.WalkDir(source, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(p, when, when)
	})
	if err != nil {
		t.Fatal(err)
	}
	outs, logs, errs := onBoth(t, r, j)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatalf("%v\n%s\n%s", err, logs[0], logs[1])
	}
	if d := cmp.Diff(outs[0], outs[1]); d != "" {
		t.Errorf("on the host (-) and on the engine (+):\n%s", d)
	}
	if d := cmp.Diff(logs[0], logs[1]); d != "" {
		t.Errorf("the logs of the host (-) and of the engine (+):\n%s", d)
	}
}

func TestEngineFailsAsTheHost(t *testing.T) {
	r, root := engine(t)
	for _, c := range []struct {
		name string
		step []string
	}{
		{"a long log", []string{"print", "40000", "3"}},
		{"a signal", []string{"die"}},
		{"no network", []string{"network"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, logs, errs := onBoth(t, r, toolJob(t, root, nil, c.step, []string{"print", "1", "0"}))
			for _, err := range errs {
				var exit *sandbox.ExitError
				if !errors.As(err, &exit) {
					t.Fatalf("%v", errs)
				}
			}
			if errs[0].Error() != errs[1].Error() {
				t.Errorf("%v, %v", errs[0], errs[1])
			}
			if lines(logs[0]) != lines(logs[1]) {
				t.Errorf("the logs are %.2000q and %.2000q", logs[0], logs[1])
			}
		})
	}
	t.Run("no program", func(t *testing.T) {
		j := toolJob(t, root, nil, []string{"none"})
		j.Steps[0].Args = []string{"no-such-program"}
		_, _, errs := onBoth(t, r, j)
		if errs[0] == nil || errs[1] == nil || errs[0].Error() != errs[1].Error() {
			t.Errorf("%v, %v", errs[0], errs[1])
		}
	})
}

// lines sorts the lines of a log: the host's two streams have no order between
// them.
func lines(log string) string {
	all := strings.Split(log, "\n")
	var out, errs []string
	for _, l := range all {
		if strings.HasPrefix(l, "error ") {
			errs = append(errs, l)
		} else {
			out = append(out, l)
		}
	}
	return strings.Join(append(out, errs...), "\n")
}

// TestEngineNoNetwork holds what a step finds of the network: the families that
// it tries are refused to it and to its child, AF_UNIX is not.
func TestEngineNoNetwork(t *testing.T) {
	r, root := engine(t)
	var log bytes.Buffer
	_, err := r.Run(t.Context(), toolJob(t, root, &log, []string{"network"}))
	var exit *sandbox.ExitError
	if !errors.As(err, &exit) || exit.Code != 9 {
		t.Fatalf("%v\n%s", err, log.String())
	}
	const refused = "address family not supported by protocol"
	if n := strings.Count(log.String(), refused); n != 10 || strings.Count(log.String(), "unix <nil>") != 2 || strings.Count(log.String(), "io_uring function not implemented") != 2 {
		t.Errorf("the log says\n%s", log.String())
	}
}

// TestEngineRemembers runs the same again: what was done is not done again, what
// failed is.
func TestEngineRemembers(t *testing.T) {
	r, root := engine(t)
	run := func(step ...string) string {
		var log bytes.Buffer
		r.Run(t.Context(), toolJob(t, root, &log, step))
		return log.String()
	}
	fresh := time.Now().String()
	if log := run("print", "1", "0", fresh); strings.Contains(log, "remembered") {
		t.Errorf("the first time: %s", log)
	}
	if log := run("print", "1", "0", fresh); !strings.Contains(log, "the engine remembered it") || !strings.Contains(log, "\nline 0\nerror 0\n") {
		t.Errorf("the second time: %s", log)
	}
	if first, second := run("time", fresh), run("time", fresh); first == second || !strings.Contains(second, "exit status 1") {
		t.Errorf("what failed: %s\n%s", first, second)
	}
}

// TestEngineOfAKilledClient kills a client in the middle of a step. The same
// step, and another one, then run to their ends.
func TestEngineOfAKilledClient(t *testing.T) {
	r, root := engine(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, fresh := t.TempDir(), rand.Text()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), killedEnv+"="+strings.Join([]string{r.step, root, out, fresh}, string(filepath.ListSeparator)))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	time.Sleep(time.Second) // so that the step has begun, most of the time
	cmd.Process.Kill()
	cmd.Wait()
	if line != "started\n" {
		t.Fatalf("the client says %q", line)
	}
	if left := tree(t, out); len(left) > 0 {
		t.Errorf("its output has %v", left)
	}
	var log bytes.Buffer
	j := toolJob(t, root, &log, []string{"sleep", "5s", fresh}, []string{"write", "/out/made"})
	if _, err := r.Run(t.Context(), j); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if made := tree(t, j.Out); len(made) != 9 {
		t.Errorf("it made %v", made)
	}
}

// killedClient runs a step that takes a while.
func killedClient(args []string) int {
	ctx := context.Background()
	r, err := New(ctx, Options{Step: func(context.Context) (string, error) { return args[0], nil }})
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		return 1
	}
	os.Stdout.WriteString("started\n")
	var log bytes.Buffer
	j := build.Job{Name: "demo", Root: args[1], Out: args[2], Log: &log, Epoch: 1_000_000_000, Env: []string{"HOME=" + sandbox.Home, "PATH=/bin", "TZ=UTC"}}
	j.Steps = []build.Step{{Name: "sleep", Args: []string{"tool", "sleep", "5s", args[3]}}, {Name: "write", Args: []string{"tool", "write", "/out/made"}}}
	r.Run(ctx, j)
	return 0
}

// TestEngineTwoAtOnce runs two jobs on one runner.
func TestEngineTwoAtOnce(t *testing.T) {
	r, root := engine(t)
	var both sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		var log bytes.Buffer
		j := toolJob(t, root, &log, []string{"write", "/out/" + name})
		both.Go(func() {
			if _, err := r.Run(t.Context(), j); err != nil {
				t.Errorf("%v\n%s", err, log.String())
			}
		})
	}
	both.Wait()
}

// TestSchemaIsTheEngines compares the schema that the recorder answers from with
// a real engine's.
func TestSchemaIsTheEngines(t *testing.T) {
	r, _ := engine(t)
	if version, err := r.client.Version(t.Context()); err != nil || version != Version {
		t.Errorf("the engine is %s (%v), the tests are for %s", version, err, Version)
	}
	type ref struct {
		Kind, Name string
		OfType     *ref
	}
	var answer struct {
		Schema struct {
			Types []struct {
				Name   string
				Fields []struct {
					Name string
					Type ref
					Args []struct {
						Name         string
						Type         ref
						DefaultValue *string
					}
				}
			}
		} `json:"__schema"`
	}
	const kind = "kind name ofType{kind name ofType{kind name ofType{kind name}}}"
	err := r.client.Do(t.Context(), &dagger.Request{Query: "query{__schema{types{name fields{name type{" + kind + "} args{name defaultValue type{" + kind + "}}}}}}"}, &dagger.Response{Data: &answer})
	if err != nil {
		t.Fatal(err)
	}
	var write func(ref) string
	write = func(r ref) string {
		switch r.Kind {
		case "NON_NULL":
			return write(*r.OfType) + "!"
		case "LIST":
			return "[" + write(*r.OfType) + "]"
		}
		return r.Name
	}
	real := map[string]string{} // Type.field and Type.field(argument)
	for _, typ := range answer.Schema.Types {
		for _, f := range typ.Fields {
			real[typ.Name+"."+f.Name] = write(f.Type)
			for _, a := range f.Args {
				real[typ.Name+"."+f.Name+"("+a.Name+")"] = write(a.Type)
			}
		}
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(read(t, "testdata/schema.graphql"))})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	check := func(name, ours string) {
		compared++
		if theirs := real[name]; theirs != ours && theirs != ours+"!" && theirs+"!" != ours {
			t.Errorf("%s is %q, the engine says %q", name, ours, theirs)
		}
	}
	for _, typ := range schema.Types {
		if typ.BuiltIn || strings.HasPrefix(typ.Name, "__") {
			continue
		}
		for _, f := range typ.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			check(typ.Name+"."+f.Name, f.Type.String())
			for _, a := range f.Arguments {
				check(typ.Name+"."+f.Name+"("+a.Name+")", a.Type.String())
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d names were compared", compared)
	}
}
