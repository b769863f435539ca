// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/hardware"
	"github.com/1bit-MONSTER/engine/pipelines/hardware/evidence"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/google/go-cmp/cmp"
)

// A bench is a round of one pin that feeds two components, which are in the
// store as if the gate build had made them, and what the trees say of tests.
type bench struct {
	t      *testing.T
	s      *Subject
	output map[string]string // t1: by component
}

var benchNow = time.Date(2026, 12, 5, 12, 0, 0, 0, time.UTC)

func benchKey(c byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{c}, ed25519.SeedSize))
}

func newBench(t *testing.T) *bench {
	t.Helper()
	top := t.TempDir()
	st, err := store.Open(filepath.Join(top, "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rmtree.All(st.Dir()) })
	git := func(name, id string) *pins.Pin {
		return &pins.Pin{Name: name, Track: pins.Track{Kind: pins.GitBranch},
			Lock: &pins.Lock{Commit: strings.Repeat(id, 40), Sum: "t1:" + id, Date: benchNow}}
	}
	zig := &pins.Pin{Name: "tools", Track: pins.Track{Kind: pins.OCI}, Lock: &pins.Lock{Digest: "sha256:" + strings.Repeat("0", 64)}}
	set := &pins.Set{Pins: []*pins.Pin{git("demo", "2"), git("other", "3"), zig}}
	recipe := func(name, pin string) *build.Recipe {
		return &build.Recipe{Name: name, Pins: []string{pin}, Toolchain: "tools", Steps: []build.Step{{Name: "build", Args: []string{"true"}}}, Outputs: []string{"out"}}
	}
	s := &Subject{
		Round: &round.Round{Group: "demo", Members: []round.Member{{Pin: "demo", From: round.Version{ID: "1"}, To: round.Version{ID: "2"}}}},
		Base:  set, Next: set, BaseDir: filepath.Join(top, "base"), NextDir: filepath.Join(top, "next"),
		Engine: &fetch.Engine{Set: set, Store: st, CacheDir: top, Offline: true}, Now: benchNow, Log: io.Discard,
		Recipes: []*build.Recipe{recipe("server", "demo"), recipe("bench", "demo"), recipe("elsewhere", "other")},
	}
	s.Workshop = func() (*build.Workshop, error) {
		return build.NewWorkshop(build.WorkshopOptions{Engine: s.Engine, Recipes: s.Recipes, Serve: build.Options{Cache: build.Cache{Dir: top}}}), nil
	}
	b := &bench{t: t, s: s, output: map[string]string{}}
	for _, dir := range []string{s.BaseDir, s.NextDir} {
		b.write(dir, "README", "")
	}
	b.made("server")
	b.made("bench")
	b.write(s.BaseDir, evidence.TrustFile, "runners:\n"+
		"  - {name: halo-1, public-key: '"+evidence.PublicText(benchKey(1).Public().(ed25519.PublicKey))+"', valid-from: 2026-12-01, valid-to: 2027-12-01}\n"+
		"  - {name: halo-2, public-key: '"+evidence.PublicText(benchKey(2).Public().(ed25519.PublicKey))+"', valid-from: 2026-12-01, valid-to: 2027-12-01}\n")
	return b
}

func (b *bench) write(dir, name, text string) {
	b.t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// made puts a component's output into the store, under the key that it has in
// this round.
func (b *bench) made(component string) {
	b.t.Helper()
	w, err := b.s.Workshop()
	if err != nil {
		b.t.Fatal(err)
	}
	defer w.Close()
	plan, err := w.Plan(b.t.Context(), component)
	if err != nil {
		b.t.Fatal(err)
	}
	c := plan.Components[0]
	e, err := b.s.Engine.Store.Put(b.t.Context(), c.Key, store.Maker{
		Kind: "output", Name: component,
		Fill: func(_ context.Context, path string) error {
			if err := os.Mkdir(path, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(path, "out"), []byte(component), 0o755)
		},
		Check: func(_, _ string) error { return nil },
	})
	if err != nil {
		b.t.Fatalf("%s: %v (%s)", component, err, c.Why)
	}
	b.output[component] = e.Sum
}

func (b *bench) define(dir, test, component string) {
	b.write(dir, hardware.Folder+"/"+test+".yaml", "name: "+test+"\ncomponent: "+component+"\n")
}

// says adds evidence of a runner about a test of a component.
func (b *bench) says(dir, test, component string, key byte, runner string, result evidence.Result, minutes int) string {
	b.t.Helper()
	definitions, err := hardware.Definitions(b.s.BaseDir)
	if err != nil {
		b.t.Fatal(err)
	}
	s := &evidence.Statement{
		Component: component, Output: b.output[component], Test: test, Machine: runner, Command: []string{"test"},
		At: benchNow.Add(time.Duration(minutes-60) * time.Minute), Result: result,
	}
	for _, d := range definitions {
		if d.Name == test {
			s.Definition = d.Digest
		}
	}
	if result == evidence.Failed {
		s.FailedOnes = []string{"pp512"}
	}
	file, err := evidence.Write(dir, s, benchKey(key), runner)
	if err != nil {
		b.t.Fatal(err)
	}
	return file
}

func TestHardware(t *testing.T) {
	for _, c := range []struct {
		what    string
		given   func(b *bench)
		verdict verdict.Verdict
		why     string // SERVER and BENCH stand for outputs
		details string // a part
		person  bool
	}{
		{"nothing is built from what moves", func(b *bench) { b.s.Round.Members[0].Pin = "nowhere" },
			verdict.Pass, "", "no component is built from what moves", false},
		{"no test", func(b *bench) { b.define(b.s.BaseDir, "there", "elsewhere") },
			verdict.Skipped, "no hardware test is defined for server; no hardware test is defined for bench", "", false},
		{"a test that only the round has", func(b *bench) { b.define(b.s.NextDir, "prefill", "server") },
			verdict.Skipped, "no hardware test is defined for server; no hardware test is defined for bench", "", false},
		{"no evidence", func(b *bench) { b.define(b.s.BaseDir, "prefill", "server"); b.define(b.s.BaseDir, "speed", "bench") },
			verdict.Held, "waits for evidence of prefill on server SERVER; waits for evidence of speed on bench BENCH", "", true},
		{"all pass", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.define(b.s.BaseDir, "speed", "bench")
			b.says(b.s.BaseDir, "prefill", "server", 1, "halo-1", evidence.Passed, 0)
			b.says(b.s.NextDir, "speed", "bench", 2, "halo-2", evidence.Passed, 0)
		}, verdict.Pass, "", "PASSED, says runner halo-2, on machine halo-2 at 2026-12-05 11:00", false},
		{"one has no test", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.says(b.s.BaseDir, "prefill", "server", 1, "halo-1", evidence.Passed, 0)
		}, verdict.Skipped, "no hardware test is defined for bench", "", false},
		{"one runner says no", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.says(b.s.BaseDir, "prefill", "server", 1, "halo-1", evidence.Passed, 0)
			b.says(b.s.BaseDir, "prefill", "server", 2, "halo-2", evidence.Failed, 0)
		}, verdict.Fail, "prefill on server SERVER failed (pp512), says runner halo-2, on machine halo-2 at 2026-12-05 11:00; and 1 more", "", false},
		{"tried again and well", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.define(b.s.BaseDir, "speed", "bench")
			b.says(b.s.BaseDir, "prefill", "server", 1, "halo-1", evidence.Failed, 0)
			b.says(b.s.NextDir, "prefill", "server", 1, "halo-1", evidence.Passed, 1)
			b.says(b.s.NextDir, "speed", "bench", 1, "halo-1", evidence.Passed, 1)
		}, verdict.Pass, "", "PASSED", false},
		{"a signature that is not the runner's", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.says(b.s.NextDir, "prefill", "server", 2, "halo-1", evidence.Passed, 0)
		}, verdict.Held, "waits for evidence of prefill on server SERVER; and 1 more", "server/HEX.prefill.halo-1.json does not count: the signature is not that of runner halo-1", true},
		{"a runner that only the round trusts", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.write(b.s.NextDir, evidence.TrustFile, "runners:\n  - {name: mallory, public-key: '"+evidence.PublicText(benchKey(9).Public().(ed25519.PublicKey))+"', valid-from: 2026-12-01, valid-to: 2027-12-01}\n")
			b.says(b.s.NextDir, "prefill", "server", 9, "mallory", evidence.Passed, 0)
		}, verdict.Held, "waits for evidence of prefill on server SERVER; and 1 more", `has no runner "mallory"`, true},
		{"the test was changed since", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.says(b.s.BaseDir, "prefill", "server", 1, "halo-1", evidence.Passed, 0)
			b.write(b.s.BaseDir, hardware.Folder+"/prefill.yaml", "name: prefill\ncomponent: server\nwhat: more of it\n")
		}, verdict.Held, "waits for evidence of prefill on server SERVER; and 1 more", "", true},
		{"another output", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.output["server"], b.output["bench"] = b.output["bench"], b.output["server"]
			b.says(b.s.BaseDir, "prefill", "server", 1, "halo-1", evidence.Passed, 0)
			b.output["server"], b.output["bench"] = b.output["bench"], b.output["server"]
		}, verdict.Held, "waits for evidence of prefill on server SERVER; and 1 more", "", true},
		{"not built", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.s.Next.Pins[0].Lock.Sum = "t1:4"
		}, verdict.Skipped, "no hardware test is defined for bench; server was not built, so nothing can be evidence for it", "", false},
		{"a definition that is wrong", func(b *bench) { b.write(b.s.BaseDir, hardware.Folder+"/x.yaml", "name: y\ncomponent: server\n") },
			verdict.Fail, `ci/hardware/x.yaml:1: name: it is "y" and the file is called x.yaml`, "", false},
		{"trust that is wrong", func(b *bench) {
			b.define(b.s.BaseDir, "prefill", "server")
			b.write(b.s.BaseDir, evidence.TrustFile, "runners: none\n")
		}, verdict.Fail, "ci/trust/runners.yaml:1: another kind of value belongs here; and 1 more", "", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newBench(t)
			c.given(b)
			r := Run(t.Context(), b.s, []Gate{evidenced()}, "")[0]
			name, err := (&evidence.Statement{Component: "server", Output: b.output["server"], Test: "x", Definition: "sha256:" + strings.Repeat("0", 64),
				Machine: "x", Command: []string{"x"}, At: benchNow, Result: evidence.Passed}).Path("x")
			if err != nil {
				t.Fatal(err)
			}
			digits, _, _ := strings.Cut(filepath.Base(name), ".")
			words := strings.NewReplacer("SERVER", b.output["server"], "BENCH", b.output["bench"], "HEX", digits)
			if r.Verdict != c.verdict || r.Person != c.person {
				t.Errorf("%s, person %v; want %s, %v", r.Verdict, r.Person, c.verdict, c.person)
			}
			if d := cmp.Diff(words.Replace(c.why), r.Why); d != "" {
				t.Errorf("why: %s", d)
			}
			if want := words.Replace(c.details); !strings.Contains(r.Details, want) {
				t.Errorf("details:\n%s\nwant %s", r.Details, want)
			}
			if _, drafts := Decision([]Result{{Gate: "build", Verdict: verdict.Pass}, r}); c.person && len(drafts) != 1 {
				t.Errorf("what waits for evidence is proposed as no draft: %q", drafts)
			}
		})
	}
}
