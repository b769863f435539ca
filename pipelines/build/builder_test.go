// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// bench is a builder with a store of its own, in a real sandbox with the
// machine's tools, and a source /src/demo with one file.
type bench struct {
	*Builder
	recipes []*Recipe
	source  string
}

func newBench(t *testing.T, recipes ...*Recipe) *bench {
	t.Helper()
	runner, err := NewHostRunner(t.Context(), HostTools)
	var unavailable *sandbox.Unavailable
	if errors.As(err, &unavailable) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cache := Cache{t.TempDir()}
	st, err := cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rmtree.All(cache.Dir) })
	b := &bench{recipes: recipes, source: t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.source, "a"), []byte("source\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Builder = &Builder{Store: st, Cache: cache, Runner: runner, Provider: given{map[string]string{"demo": b.source}}}
	return b
}

// planned plans a component by hand: its pin is no real one.
func (b *bench) planned(t *testing.T, name string) *PlannedComponent {
	t.Helper()
	r, err := find(b.recipes, name)
	if err != nil {
		t.Fatal(err)
	}
	in := &Inputs{Recipe: name, Space: HostTools, Sources: []Sum{{"demo", b.source}}, Steps: r.Steps, Outputs: r.Outputs, Epoch: 1}
	key, err := in.Key()
	if err != nil {
		t.Fatal(err)
	}
	return &PlannedComponent{Recipe: r, Name: name, Inputs: in, Key: key}
}

func sh(name, script string) Step { return Step{Name: name, Args: []string{"sh", "-c", script}} }

func TestBuilderBuildsOnceAndKeepsTheLog(t *testing.T) {
	b := newBench(t, testRecipe("demo", sh("say", "echo hello; echo $SOURCE_DATE_EPOCH $HOME $TZ; pwd"), sh("copy", "cp /src/demo/a /out/out")))
	c := b.planned(t, "demo")
	built, err := b.one(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if built.Hit || len(built.Steps) != 2 || built.Steps[0].Way == "" || built.Steps[0].Wall <= 0 {
		t.Errorf("got %+v", built)
	}
	data, err := os.ReadFile(filepath.Join(built.Path, "out"))
	if err != nil || string(data) != "source\n" {
		t.Errorf("it made %q, %v", data, err)
	}
	log, err := os.ReadFile(filepath.Join(filepath.Dir(built.Path), "log.txt"))
	if err != nil || !strings.Contains(string(log), "hello\n1 /home/build UTC\n/build\n") {
		t.Errorf("the log says %s (%v)", log, err)
	}
	entries, err := os.ReadDir(filepath.Dir(built.Path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "work" || e.Name() == "out" || e.Name() == "root" {
			t.Errorf("the entry still has %s", e.Name())
		}
	}
	if again, err := b.one(t.Context(), c, nil); err != nil || !again.Hit || again.Sum != built.Sum {
		t.Errorf("the second time: %+v, %v", again, err)
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		script  string
		verdict verdict.Verdict
		say     string
	}{
		{"a step that fails", "echo why >&2; exit 3", verdict.Fail, `step "s": exit status 3; its last lines:`},
		{"a step that wants the network", "exec 3<>/dev/udp/127.0.0.1/53 || python3 -c 'import socket; socket.socket(socket.AF_INET)' ; touch /out/out; getent hosts example.com", verdict.Fail, "exit status"},
		{"a step that writes outside its output", "touch /src/demo/b", verdict.Fail, "ead-only"},
		{"a step that writes to the host", "touch /etc/x", verdict.Fail, "exit status"},
		{"an output that is missing", "true", verdict.Fail, "did not make out"},
		{"an output that nobody named", "touch /out/out /out/more", verdict.Fail, "made more, which the recipe does not name"},
		{"a program that is not there", "no-such-program", verdict.Fail, "exit status 127"},
		{"an output that is a device", "mkfifo /out/out", verdict.Fail, "neither a file nor a symlink"},
		{"a full disk", "echo 'write: No space left on device' >&2; exit 1", verdict.Infra, "is full"},
		{"a machine without memory", "echo 'cc1plus: out of memory' >&2; exit 1", verdict.Infra, "run the same again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, testRecipe("demo", sh("s", c.script)))
			_, err := b.one(t.Context(), b.planned(t, "demo"), nil)
			if verdict.Of(err) != c.verdict || err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("verdict %s: %v; want %s and %q", verdict.Of(err), err, c.verdict, c.say)
			}
			all, err := b.Store.List()
			if err != nil || len(all) > 0 {
				t.Errorf("the store has %v (%v)", all, err)
			}
			if left, _ := os.ReadDir(filepath.Join(b.Store.Dir(), "tmp")); len(left) > 0 {
				t.Errorf("the store's tmp has %v", left)
			}
		})
	}
}

func TestBuilderLeavesNoDaemon(t *testing.T) {
	b := newBench(t, testRecipe("demo", sh("s", "(setsid sleep 1000 &) ; touch /out/out")))
	begun := time.Now()
	if _, err := b.one(t.Context(), b.planned(t, "demo"), nil); err != nil {
		t.Fatal(err)
	}
	if time.Since(begun) > 500*time.Second {
		t.Error("it waited for the daemon")
	}
}

func TestBuilderUsesNoPoisonedEntry(t *testing.T) {
	b := newBench(t, testRecipe("demo", sh("copy", "cp /src/demo/a /out/out")))
	c := b.planned(t, "demo")
	built, err := b.one(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(built.Path, "out")
	poison := func() {
		t.Helper()
		st, err := os.Stat(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(out, 0o644), os.WriteFile(out, []byte("poison\n"), 0o644), os.Chmod(out, 0o444)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(out, st.ModTime(), st.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	poison() // same size, same times: only reading tells
	b.Paranoid = true
	again, err := b.one(t.Context(), c, nil)
	if err != nil || again.Hit {
		t.Fatalf("with --paranoid: %+v, %v", again, err)
	}
	b.Paranoid = false
	if err := errors.Join(os.Chmod(out, 0o644), os.WriteFile(out, []byte("poison, longer\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	again, err = b.one(t.Context(), c, nil)
	if err != nil || again.Hit {
		t.Fatalf("with another size: %+v, %v", again, err)
	}
	if data, _ := os.ReadFile(out); string(data) != "source\n" {
		t.Errorf("it holds %q", data)
	}
}

func TestExplainNamesWhatChanged(t *testing.T) {
	b := newBench(t, testRecipe("demo", sh("copy", "cp /src/demo/a /out/out")))
	c := b.planned(t, "demo")
	if last, changes, err := Explain(b.Store, c); last != nil || changes != nil || err != nil {
		t.Errorf("never built: %v %v %v", last, changes, err)
	}
	if _, err := b.one(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	b.recipes[0].Steps = append(b.recipes[0].Steps, sh("more", "true"))
	now := b.planned(t, "demo")
	now.Inputs.Sources = []Sum{{"demo", "t1:other"}}
	now.Inputs.Env = []string{"A=1"}
	_, changes, err := Explain(b.Store, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, c.String())
	}
	want := "source demo changed from " + b.source + " to t1:other|step more is new: sh -c true|variable A is new: 1"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestReproduce(t *testing.T) {
	for _, c := range []struct {
		name, script string
		except       string
		equal        bool
		say          string
	}{
		{"a copy", "cp /src/demo/a /out/out", "", true, ""},
		{"the time of day", "date +%N > /out/out; sleep 0.01", "", false, "bytes, from byte"},
		{"the number of processors", "nproc > /out/out", "", false, "bytes, from byte"},
		{"an excepted file", "date +%N > /out/out", "out", true, "bytes, from byte"},
		{"the caller's time zone, locale and umask", "{ echo $TZ$LC_ALL; umask; date -d @0; } > /out/out", "", true, ""},
		{"the host's name and user", "{ hostname; id -u; umask; pwd; } > /out/out", "", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "the number of processors" && runtime.NumCPU() == 1 {
				t.Skip("skipped: this machine has one processor only")
			}
			r := testRecipe("demo", sh("s", c.script))
			if c.except != "" {
				r.Exceptions = []Exception{{c.except, "a test"}}
			}
			b := newBench(t, r)
			got, err := b.Reproduce(t.Context(), b.planned(t, "demo"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Equal != c.equal || (len(got.Differences) > 0) != (c.say != "") {
				t.Fatalf("got %+v", got)
			}
			if c.say != "" && !strings.Contains(got.Differences[0].What[0], c.say) {
				t.Errorf("it says %v", got.Differences)
			}
			if (got.Kept[1] != "") == c.equal {
				t.Errorf("kept in %q", got.Kept)
			}
		})
	}
}

// What is called varied is: an engine sees less of this machine than a process does.
func TestReproduceSaysWhatWasVaried(t *testing.T) {
	const order, processors = "order in which source files were made", "number of processors"
	for _, c := range []struct {
		name   string
		runner Runner
		pins   []string
		order  bool
		length int
	}{
		{"here", &HostRunner{}, []string{"demo"}, true, 6},
		{"here, from the work tree", &HostRunner{}, nil, false, 5},
		{"elsewhere", elsewhere{}, []string{"demo"}, false, 2},
	} {
		b := &Builder{Runner: c.runner}
		got := b.varied(&PlannedComponent{Recipe: &Recipe{Pins: c.pins}})
		if slices.Contains(got, order) != c.order || !slices.Contains(got, processors) || len(got) != c.length {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// elsewhere is a runner that is not this machine.
type elsewhere struct{ Runner }

// Where diffoscope is installed, its words lie beside the second build.
func TestReproduceAsksDiffoscope(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\n[ \"$1 $3\" = '--text --' ] || exit 2\ncat \"$4/out\" \"$5/out\" >\"$2\"\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "diffoscope"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	b := newBench(t, testRecipe("demo", sh("s", "date +%N > /out/out")))
	got, err := b.Reproduce(t.Context(), b.planned(t, "demo"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if report, err := os.ReadFile(got.Report); err != nil || len(strings.Fields(string(report))) != 2 {
		t.Errorf("the report is %q (%v)", report, err)
	}
}

func TestView(t *testing.T) {
	b := newBench(t, testRecipe("demo", sh("copy", "mkdir /out/out; cp /src/demo/a /out/out/a; ln -s a /out/out/link")))
	c := b.planned(t, "demo")
	built, err := b.one(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.Store.Get(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	files, err := b.Store.Files(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "deep", "demo")
	for range 2 {
		if err := view(e, files, dir); err != nil {
			t.Fatal(err)
		}
	}
	a, err := os.Stat(filepath.Join(dir, "out", "a"))
	if err != nil || a.Mode().Perm() != 0o444 {
		t.Errorf("out/a is %v, %v", a, err)
	}
	if original, err := os.Stat(filepath.Join(built.Path, "out", "a")); err != nil || !os.SameFile(a, original) {
		t.Error("it is no link to the store's file")
	}
	if target, err := os.Readlink(filepath.Join(dir, "out", "link")); err != nil || target != "a" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	// A file that was added or changed is gone afterwards.
	if err := os.WriteFile(filepath.Join(dir, "out", "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := view(e, files, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "mine")); err == nil {
		t.Error("a file that is none of the component's is still there")
	}
	// A folder of the user's is left alone.
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := view(e, files, other); err == nil || verdict.ExitCode(err) != 2 || !strings.Contains(err.Error(), "was not made by dist build") {
		t.Errorf("a folder of the user's: %v", err)
	}
}

// A GOROOT has bin, lib and src but is no root file system: sources could not be
// shown below its src.
func TestGoToolchainIsMountedNotTheRoot(t *testing.T) {
	b := newBench(t, testRecipe("demo"))
	for _, c := range []struct {
		toolchain, root string
		binds           []sandbox.Bind
	}{
		{"go", "", []sandbox.Bind{{From: "/toolchains/go", To: "/go"}, {From: b.source, To: "/src/demo"}}},
		{"debian", "/toolchains/debian", []sandbox.Bind{{From: b.source, To: "/src/demo"}}},
	} {
		p := b.planned(t, "demo")
		r := *p.Recipe
		r.Toolchain = c.toolchain
		p.Recipe, p.Inputs.Space = &r, Sandboxed
		j, err := b.job(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if j.Root != c.root || !slices.Equal(j.Binds, c.binds) {
			t.Errorf("%s: root %q and %v, want %q and %v", c.toolchain, j.Root, j.Binds, c.root, c.binds)
		}
	}
}
