// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// childJob is the environment variable that makes this test binary a process
// that runs a night: a job as JSON.
const childJob = "REHEARSE_TEST_JOB"

// A job is a night in a process of its own, which may be killed.
type job struct {
	World  string
	Dir    string // of the clone
	Now    time.Time
	Groups []string
	// KillAfter ends the process as the kernel would after so many transitions.
	KillAfter int
	// PauseAt stops it after the transition that leads there, until the file
	// Pause + ".go" is there; Pause + ".reached" says that it has stopped.
	PauseAt nightly.State
	Pause   string
	// TokenEnv is the variable that holds the token for pushes.
	TokenEnv string
	Scan     bool // with the recipe that looks for the token
}

func TestMain(m *testing.M) {
	sandbox.Main()
	if text := os.Getenv(childJob); text != "" {
		if err := child(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(verdict.ExitCode(err))
		}
		os.Exit(0)
	}
	code := m.Run()
	for _, dir := range templates {
		store.RemoveAll(dir)
	}
	os.Exit(code)
}

func child(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	ctx := context.Background()
	w, err := OpenWorld(ctx, j.World, j.Now)
	if err != nil {
		return err
	}
	o, err := w.Night(ctx, j.Dir)
	if err != nil {
		return err
	}
	o.Groups, o.TokenEnv = j.Groups, j.TokenEnv
	if j.Scan {
		o.Recipes = scanRecipes()
	}
	walked := 0
	o.After = func(_ string, t nightly.Transition) {
		walked++
		fmt.Fprintln(os.Stderr, t)
		if walked == j.KillAfter {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		if t.To == j.PauseAt && j.PauseAt != "" {
			os.WriteFile(j.Pause+".reached", nil, 0o666)
			for range 6000 {
				if _, err := os.Stat(j.Pause + ".go"); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	r, err := run(ctx, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// start starts a job; the test waits for it.
func (w *World) start(t *testing.T, j job, env ...string) (cmd *exec.Cmd, out, errs *bytes.Buffer) {
	t.Helper()
	j.World, j.Now = w.Dir, w.Now
	if j.Dir == "" {
		j.Dir = filepath.Join(tempDir(t), "clone")
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), exe)
	cmd.Env = append(append(os.Environ(), env...), childJob+"="+string(text))
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out, errs
}

// templates are worlds that tests copy, by name.
var (
	templates   = map[string]string{}
	templatesMu sync.Mutex
)

// copyOf returns a world of its own that is as make made it; make is called once
// for all tests.
func copyOf(t *testing.T, name string, make func(ctx context.Context, dir string) (*World, error)) *World {
	t.Helper()
	templatesMu.Lock()
	defer templatesMu.Unlock()
	from := templates[name]
	if from == "" {
		dir, err := os.MkdirTemp(memory(), "rehearse-world-")
		if err != nil {
			t.Fatal(err)
		}
		templates[name], from = dir, dir
		if _, err := make(context.Background(), from+"/w"); err != nil {
			t.Fatal(err)
		}
	}
	to := tempDir(t) + "/w"
	if out, err := exec.Command("cp", "-a", from+"/w", to).CombinedOutput(); err != nil {
		t.Fatalf("copy the world: %v: %s", err, out)
	}
	w, err := OpenWorld(t.Context(), to, begin.AddDate(0, 0, 30))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// memory is a folder in memory, where there is one with room: a night is several
// hundred git processes on small files, and a disk takes as long again. It is
// empty, which means the system's folder, where there is none.
func memory() string {
	var st unix.Statfs_t
	const dir, room = "/dev/shm", 1 << 30
	if unix.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) > room {
		return dir
	}
	return ""
}

// tempDir is a folder of the test's, in memory where there is room.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "rehearse-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.RemoveAll(dir) })
	return dir
}

// small is a world of three pins, one of them with a stack, another one whose
// versions must ripen for a day. No component is made of them.
func small(t *testing.T) *World {
	t.Helper()
	return copyOf(t, "small", func(ctx context.Context, dir string) (*World, error) {
		files := Common()
		files["pins/greet.yaml"] = PinFile("greet", "a program that we patch", followMain, "stack: greet\n")
		files["pins/hello.yaml"] = PinFile("hello", "a program", followMain, "")
		files["pins/fresh.yaml"] = PinFile("fresh", "a package", "{kind: git-branch, branch: main, min-age: 24h}", "")
		return NewWorld(ctx, dir, Distribution{
			Files: files, Stacks: map[string]Ours{"greet": greetOurs},
			Upstreams: func(w *World) error {
				for name, f := range map[string]Files{
					"greet": {"main.go": greetMain, "greeting.go": greeting, "ending.go": ending},
					"hello": {"main.go": helloMain("hello")},
					"fresh": {"fresh.go": "package fresh\n"},
				} {
					if _, err := w.push(ctx, name, "Begin", f); err != nil {
						return err
					}
				}
				return nil
			},
		})
	})
}

// night runs a night on a new clone.
func (w *World) night(t *testing.T, change ...func(*nightly.Options)) (*nightly.Report, error) {
	t.Helper()
	o, err := w.Night(t.Context(), filepath.Join(tempDir(t), "clone"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&o)
	}
	return run(t.Context(), o)
}

// mustNight is night, and what it must come to: "group verdict state" each.
func (w *World) mustNight(t *testing.T, want []string, change ...func(*nightly.Options)) *nightly.Report {
	t.Helper()
	r, err := w.night(t, change...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range r.Groups {
		got = append(got, fmt.Sprintf("%s: %s, %s", g.Group, g.Verdict, g.State))
	}
	if !slices.Equal(got, want) {
		var why []string
		for _, g := range r.Groups {
			why = append(why, g.Group+": "+g.Why)
		}
		t.Fatalf("the night came to %q, should be %q; the reasons are %q", got, want, why)
	}
	return r
}

func only(groups ...string) func(*nightly.Options) {
	return func(o *nightly.Options) { o.Groups = groups }
}

func dryRun(o *nightly.Options) { o.Mode = round.DryRun }

// push is World.push that ends the test on an error.
func (w *World) must(t *testing.T, upstream string, files Files) git.ID {
	t.Helper()
	id, err := w.push(t.Context(), upstream, "Change "+upstream, files)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// refs are the refs of a repository below a prefix, a line each.
func refs(t *testing.T, r *Repository, prefix string) string {
	t.Helper()
	all, err := r.ForEachRef(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, ref := range all {
		if ref.Name != "refs/heads/"+ledger.Branch {
			fmt.Fprintln(&b, ref.Name, ref.ID)
		}
	}
	return b.String()
}

// memory is what nights remember of a group.
func (w *World) memory(t *testing.T, group string) *ledger.Memory {
	t.Helper()
	repo, err := git.Init(t.Context(), filepath.Join(tempDir(t), "repo.git"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), ledger.Options{
		Repo: repo, Remote: folder(w.Main.Dir()), Mode: round.Live, CacheDir: t.TempDir(), Clock: func() time.Time { return w.Now },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m, err := l.Memory(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// standing is what must be the same whatever was killed in between: branches,
// archive, and what a group stands at. How many tries it took is not.
func (w *World) standing(t *testing.T, groups ...string) string {
	t.Helper()
	text := refs(t, w.Main, "refs") + refs(t, w.Archive, "refs")
	for _, g := range groups {
		m := w.memory(t, g)
		last := m.LastEnded()
		if last == nil {
			text += g + " never ended\n"
			continue
		}
		text += fmt.Sprintf("%s %s %s %q", g, last.State, last.Verdict, last.Why)
		if p := m.Proposal; p != nil {
			text += fmt.Sprintf(" %s %s %s draft=%t", p.Branch, p.Commit, p.RoundID, p.Draft)
		}
		if m.Claim != nil {
			text += " claimed"
		}
		text += "\n"
	}
	return text
}
