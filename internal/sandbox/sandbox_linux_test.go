// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/parts"
)

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) > 2 && os.Args[1] == "hostile" {
		os.Exit(hostile(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// sandboxes runs f with every way of sandboxing that this machine has.
func sandboxes(t *testing.T, f func(*testing.T, Runner)) {
	t.Run("bwrap", func(t *testing.T) {
		t.Parallel()
		f(t, Bubblewrap{Path: parts.Need(t, "bwrap").Path})
	})
	t.Run("namespaces", func(t *testing.T) {
		t.Parallel()
		if err := (Namespaces{}).Probe(t.Context()); err != nil {
			if slices.Contains(parts.Required(), "bwrap") { // it needs the same of the kernel
				t.Fatal(err)
			}
			t.Skip(err)
		}
		f(t, Namespaces{})
	})
}

// everyWay is sandboxes, and without a sandbox.
func everyWay(t *testing.T, f func(*testing.T, Runner)) {
	sandboxes(t, f)
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		f(t, Plain{})
	})
}

var env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + Home}

// A trial is a step with its folders and what it printed.
type trial struct {
	Spec
	In, Out string // on the host
	said    bytes.Buffer
}

// try makes a step with an input folder at /in, an output folder at /out and
// this test's program at /hostile.
func try(t *testing.T, args ...string) *trial {
	t.Helper()
	dir := t.TempDir()
	s := &trial{In: filepath.Join(dir, "in"), Out: filepath.Join(dir, "out")}
	for _, d := range []string{s.In, s.Out} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.In, "input"), []byte("original"), 0o666); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.Spec = Spec{
		Binds:  []Bind{{From: s.Out, To: "/out", Writable: true}, {From: s.In, To: "/in"}, {From: program, To: "/hostile"}},
		Work:   "/out",
		Args:   args,
		Env:    slices.Clone(env),
		Stdout: &s.said,
		Stderr: &s.said,
		Limits: Limits{Wall: time.Minute},
	}
	return s
}

func sh(t *testing.T, script string) *trial { return try(t, "sh", "-c", script) }

// outside makes the step's hostile program the host's path, for Plain.
func (s *trial) run(t *testing.T, r Runner) (Result, error) {
	t.Helper()
	if _, plain := r.(Plain); plain && s.Args[0] == "/hostile" {
		s.Args[0], _ = s.Outside("/hostile")
	}
	return r.Run(t.Context(), s.Spec)
}

func (s *trial) must(t *testing.T, r Runner) string {
	t.Helper()
	if got, err := s.run(t, r); err != nil {
		t.Fatalf("%+v: %v\n%s", got, err, &s.said)
	}
	return s.said.String()
}

func TestStepSeesTheSameEverywhere(t *testing.T) {
	sandboxes(t, func(t *testing.T, r Runner) {
		s := sh(t, `id -u; id -g; hostname; umask; pwd; ls /; ls /home /sys /run /tmp /dev/shm $HOME; echo dev; ls /dev; cat /etc/hosts
			cat /in/input; echo; whoami; env | sort; ls /proc/self/fd | tr '\n' ' '; grep -E '^(Cap...|NoNewPrivs|Seccomp):' /proc/self/status; ulimit -c; ulimit -n; date +%Z; cat; echo made >made`)
		got := s.must(t, r)
		for _, part := range []string{
			"1000\n1000\nbuild\n0022\n/out\n",
			"/dev/shm:\n\n/home:\nbuild\n\n/home/build:\n\n/run:\n\n/sys:\n\n/tmp:\ndev\nfd\nfull\nnull\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n",
			hosts + "original\nbuild\nHOME=/home/build\nLC_ALL=C\nPATH=/usr/bin:/bin\nPWD=/out\n",
			"0 1 2 3 ", // 3 is the folder that ls lists
			"CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n", "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n0\n1024\nUTC\n",
		} {
			if !strings.Contains(got, part) {
				t.Errorf("no %q in:\n%s", part, got)
			}
		}
		top := strings.Fields(got[strings.Index(got, "/out\n")+5 : strings.Index(got, "/dev/shm:")])
		for _, name := range top {
			if !slices.Contains(append([]string{"dev", "etc", "home", "hostile", "in", "out", "proc", "run", "sys", "tmp"}, hostTop...), name) {
				t.Errorf("/%s is seen", name)
			}
		}
		if b, err := os.ReadFile(filepath.Join(s.Out, "made")); err != nil || string(b) != "made\n" {
			t.Errorf("output: %q, %v", b, err)
		}
	})
}

func TestResultTellsHowItEnded(t *testing.T) {
	everyWay(t, func(t *testing.T, r Runner) {
		_, plain := r.(Plain)
		for _, c := range []struct {
			name, script string
			code         int
			signal       string
		}{
			{"well", "exit 0", 0, ""},
			{"badly", "exit 3", 3, ""},
			{"by a signal", "kill -TERM $$", 143, "SIGTERM"},
		} {
			got, err := sh(t, c.script).run(t, r)
			var exit *ExitError
			if (err == nil) != (c.code == 0) || err != nil && (!errors.As(err, &exit) || exit.Code != c.code || exit.Signal != c.signal) {
				t.Errorf("%s: %v", c.name, err)
			}
			if got.Code != c.code || got.Signal != c.signal || got.Sandboxed == plain || got.Way != r.Name() || got.Wall <= 0 || got.MemoryBy == "" || got.ProcessesBy == "" {
				t.Errorf("%s: %+v", c.name, got)
			}
		}
		// Half a second of work and 200 MiB, so that the figures have something to show.
		got, err := try(t, "/hostile", "hostile", "work").run(t, r)
		if err != nil || got.User+got.Sys < 300*time.Millisecond || got.PeakMemory < 190<<20 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestProgramThatCannotStart(t *testing.T) {
	everyWay(t, func(t *testing.T, r Runner) {
		for _, args := range [][]string{{"no-such-program"}, {"/in/input"}, {"/no/such/file"}} {
			got, err := try(t, args...).run(t, r)
			var not *NotStarted
			if !errors.As(err, &not) || !strings.Contains(not.What, args[0]) || got.Code != -1 {
				t.Errorf("%q: %+v, %v", args, got, err)
			}
		}
		s := sh(t, "echo ran >/out/ran")
		s.Work = "/no/such/folder"
		var not *NotStarted
		if _, err := s.run(t, r); !errors.As(err, &not) {
			t.Errorf("work folder: %v", err)
		}
	})
}

func TestSpecIsChecked(t *testing.T) {
	everyWay(t, func(t *testing.T, r Runner) {
		s := Spec{
			Root: "relative", Work: "/a/../b", Env: []string{"novalue"}, CPUs: -1,
			Binds: []Bind{{From: "x", To: "/x"}, {From: "/x", To: "/"}, {From: "/x", To: "/proc/1"}, {From: "/x", To: "/y"}, {From: "/z", To: "/y"}},
		}
		_, err := r.Run(t.Context(), s)
		for _, want := range []string{"no program", "root relative", "/a/../b", "novalue", "negative", "source \"x\"", "\"/\"", "/proc/1", "given twice"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("no %q in %v", want, err)
			}
		}
	})
}

func TestRootFolder(t *testing.T) {
	root := t.TempDir()
	copyProgram(t, root, "/bin/sh")
	for name, text := range map[string]string{"etc/passwd": "theirs", "etc/os-release": "debian", "root/secret": "no", "tmp/left": "no", "usr/share/x/doc": "doc", "top": "file"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("usr/share", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "usr/share/place"), 0o755); err != nil {
		t.Fatal(err)
	}
	sandboxes(t, func(t *testing.T, r Runner) {
		s := try(t, "/bin/sh", "-c", `for f in /etc/passwd /etc/os-release /link/x/doc /top /usr/share/place/input; do read l <$f; echo "$f $l"; done
			echo /* /tmp/* /root/*; for f in /etc/os-release /usr/new /new /link/x/doc /dev/new /top; do (echo x >$f) 2>/dev/null && echo wrote $f; done; :`)
		s.Root = root
		s.Binds = append(s.Binds, Bind{From: s.In, To: "/usr/share/place"})
		got := s.must(t, r)
		for _, want := range []string{"/etc/passwd root:x:0", "/etc/os-release debian", "/link/x/doc doc", "/top file", "/usr/share/place/input original", "/tmp/* /root/*"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in:\n%s", want, got)
			}
		}
		if strings.Contains(got, "wrote") {
			t.Error(got)
		}
		s = try(t, "/bin/sh", "-c", "echo ran")
		s.Root = root
		s.Binds = append(s.Binds, Bind{From: s.In, To: "/usr/share/none"})
		var not *NotStarted
		if _, err := s.run(t, r); !errors.As(err, &not) || s.said.Len() > 0 && strings.Contains(s.said.String(), "ran") {
			t.Errorf("a mount point that the root lacks: %v", err)
		}
		if _, err := os.Stat(filepath.Join(root, "usr/share/none")); err == nil {
			t.Error("the root folder was changed")
		}
	})
	s := try(t, "/bin/sh", "-c", "echo ran")
	s.Root = root
	var not *NotStarted
	if _, err := s.run(t, Plain{}); !errors.As(err, &not) {
		t.Errorf("plain with a root: %v", err)
	}
}

// copyProgram copies a program and the libraries that it names.
func copyProgram(t *testing.T, root, program string) {
	t.Helper()
	files := []string{program}
	for _, word := range strings.Fields(output(t, "ldd", program)) {
		if filepath.IsAbs(word) {
			files = append(files, word)
		}
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, f), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBindsNest(t *testing.T) {
	sandboxes(t, func(t *testing.T, r Runner) {
		s := sh(t, "cat /job/src/input && echo x >/job/new && ! echo x >/job/src/new")
		s.Binds = append(s.Binds, Bind{From: s.In, To: "/job/src"}, Bind{From: s.Out, To: "/job", Writable: true})
		s.must(t, r)
		if _, err := os.Stat(filepath.Join(s.Out, "new")); err != nil {
			t.Error(err)
		}
	})
}

func TestCPUsAndNoRandomAddresses(t *testing.T) {
	everyWay(t, func(t *testing.T, r Runner) {
		s := sh(t, "nproc")
		s.CPUs = 1
		if got := s.must(t, r); got != "1\n" {
			t.Errorf("nproc says %q", got)
		}
	})
	sandboxes(t, func(t *testing.T, r Runner) {
		var seen []string
		for range 2 {
			seen = append(seen, sh(t, `grep -m1 '\[stack\]' /proc/self/maps | cut -d' ' -f1`).must(t, r))
		}
		if seen[0] != seen[1] || seen[0] == "" {
			t.Errorf("the stack is at %q", seen)
		}
	})
}

func TestPlainIsPrivateAndPlaced(t *testing.T) {
	s := sh(t, `pwd; echo x >"$HOME/x"; echo x >"$TMPDIR/x"; echo $HOME $TMPDIR; env | cut -d= -f1 | sort | tr '\n' ' '; umask`)
	got := s.must(t, Plain{})
	lines := strings.Split(got, "\n")
	if lines[0] != s.Out || !strings.Contains(got, "HOME LC_ALL PATH PWD TMPDIR 0022\n") {
		t.Error(got)
	}
	for _, d := range strings.Fields(lines[1]) {
		if _, err := os.Stat(d); err == nil || d == Home {
			t.Errorf("%s is left", d)
		}
	}
}

func TestContextEndsAStep(t *testing.T) {
	everyWay(t, func(t *testing.T, r Runner) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := r.Run(ctx, sh(t, "trap '' TERM INT; while :; do sleep 1; done").Spec)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
}

func BenchmarkTrue(b *testing.B) {
	for _, r := range []Runner{Bubblewrap{}, Namespaces{}, Plain{}} {
		b.Run(r.Name(), func(b *testing.B) {
			if err := r.Probe(b.Context()); err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				if _, err := r.Run(b.Context(), Spec{Args: []string{"true"}, Env: env, Limits: Limits{Wall: time.Minute, Memory: 1 << 30, Processes: 100}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleSpec() {
	_, err := Plain{}.Run(context.Background(), Spec{Args: []string{"false"}, Env: []string{"PATH=/usr/bin:/bin"}})
	fmt.Println(err)
	// Output: exit status 1
}
