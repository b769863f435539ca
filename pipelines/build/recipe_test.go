// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// realPins are those of this repository.
func realPins(t *testing.T) *pins.Set {
	t.Helper()
	set, err := pins.Load("../../pins")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRecipesAreSound(t *testing.T) {
	set := realPins(t)
	seen := map[string]bool{}
	for _, r := range Recipes() {
		for _, need := range r.Needs {
			if !seen[need] {
				t.Errorf("%s comes before %s, which it needs", r.Name, need)
			}
		}
		if seen[r.Name] {
			t.Errorf("%s is there twice", r.Name)
		}
		seen[r.Name] = true
		for _, pin := range append(slices.Clone(r.Pins), r.Toolchain) {
			if set.Pin(pin) == nil {
				t.Errorf("%s names the pin %s, which does not exist", r.Name, pin)
			}
		}
		if r.What == "" || len(r.Steps) == 0 || len(r.Outputs) == 0 || len(r.Pins) == 0 && r.WorkTree == "" {
			t.Errorf("%s lacks something: %+v", r.Name, r)
		}
		for _, s := range r.Steps {
			words := strings.Join(append(slices.Clone(s.Args), s.Env...), " ")
			if strings.Contains(words, "native") || strings.Contains(words, "NATIVE=ON") {
				t.Errorf("%s, step %s: the builder's processor is no input: %s", r.Name, s.Name, words)
			}
			if len(s.Args) > 0 && slices.Contains([]string{"sh", "bash", "env"}, filepath.Base(s.Args[0])) {
				t.Errorf("%s, step %s starts a shell", r.Name, s.Name)
			}
		}
	}
}

// plan plans all components of the real pins, some changed.
func plan(t *testing.T, change func(*pins.Set)) map[string]*PlannedComponent {
	t.Helper()
	set := realPins(t)
	if change != nil {
		change(set)
	}
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range Recipes() {
		names = append(names, r.Name)
	}
	p, err := MakePlan(PlanOptions{
		Context: t.Context(), Set: set, Store: st,
		Serve: func(r *Recipe) (*Inputs, error) {
			return &Inputs{Recipe: r.Name, Toolchain: Sum{"go", set.Pin("go").Lock.Sum}}, nil
		},
	}, names...)
	if err != nil {
		t.Fatal(err)
	}
	planned := map[string]*PlannedComponent{}
	for _, c := range p.Components {
		planned[c.Name] = c
	}
	return planned
}

func TestPlanOfTheRealPins(t *testing.T) {
	for name, c := range plan(t, nil) {
		switch {
		case c.Key == "" && c.Why == "":
			t.Errorf("%s has no key and does not say why", name)
		case c.Key != "" && c.State != StateMiss:
			t.Errorf("%s is %s in an empty store", name, c.State)
		}
	}
}

// A pin that moved is built again only where it is named, itself or through
// what is needed.
func TestAMovedPinRebuildsOnlyWhatNamesIt(t *testing.T) {
	before := plan(t, nil)
	uses := RecipePins()
	for _, p := range realPins(t).Pins {
		if p.State() != pins.Verified {
			continue
		}
		after := plan(t, func(set *pins.Set) { move(set.Pin(p.Name)) })
		for name, c := range after {
			if before[name].Key == "" {
				continue
			}
			named := slices.Contains(uses[name], p.Name)
			if changed := c.Key != before[name].Key; changed != named {
				t.Errorf("pin %s moved: %s changed is %v, names it is %v", p.Name, name, changed, named)
			}
		}
	}
}

// move gives a pin other content.
func move(p *pins.Pin) {
	const other = "t1:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="
	if p.Lock.Sum != "" {
		p.Lock.Sum = p.Lock.Sum[:3] + other[3:]
	}
	for i := range p.Lock.Files {
		p.Lock.Files[i].SHA256 = strings.Repeat("b", 64)
	}
}

func TestPlanRefuses(t *testing.T) {
	set := realPins(t)
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b := testRecipe("a"), testRecipe("b")
	a.Needs, b.Needs = []string{"b"}, []string{"a"}
	odd := testRecipe("odd")
	odd.CPUs = []CPU{X8664V3}
	for _, c := range []struct {
		name string
		o    PlanOptions
		want string
		exit int
		say  string
	}{
		{"an unknown component", PlanOptions{}, "nothing", 2, `there is no component "nothing": there are serve, `},
		{"a circle", PlanOptions{Recipes: []*Recipe{a, b}}, "a", 1, "a -> b -> a"},
		{"a component that needs an unknown one", PlanOptions{Recipes: []*Recipe{a}}, "a", 2, `"b"`},
		{"another processor", PlanOptions{Recipes: []*Recipe{odd}, CPU: "native"}, "odd", 2, "odd is not built for native"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Set, c.o.Store, c.o.Context = set, st, t.Context()
			_, err := MakePlan(c.o, c.want)
			if err == nil || verdict.ExitCode(err) != c.exit || !strings.Contains(err.Error(), c.say) {
				t.Errorf("exit %d: %v, want %d and %q", verdict.ExitCode(err), err, c.exit, c.say)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	set := realPins(t)
	r := &Recipe{Name: "x", Env: []string{"A={cpu}"}, Steps: []Step{{
		Name: "s", Args: []string{"find", "{}", "-march={cpu}", "c={commit12:zinc}", "v={version:tokenizers}", "{inputs:zinc}", "{other}"},
	}}}
	env, steps, err := r.expand(set, X8664V3)
	want := fmt.Sprintf("find {} -march=x86-64-v3 c=%s v=%s {other}", set.Pin("zinc").Lock.Commit[:12], set.Pin("tokenizers").Lock.Version)
	if err != nil || strings.Join(steps[0].Args, " ") != want || env[0] != "A=x86-64-v3" {
		t.Errorf("%v %v %v, want %s", env, steps, err, want)
	}
	r.Steps[0].Args = []string{"{commit:nowhere}"}
	if _, _, err := r.expand(set, ""); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("an unknown pin: %v", err)
	}
}

func TestMerge(t *testing.T) {
	got := merge([]string{"PATH=/bin", "LC_ALL=C"}, []string{"PATH=/go/bin", "X=1"})
	if want := "LC_ALL=C PATH=/go/bin X=1"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// testRecipe is a recipe for the machine's own tools.
func testRecipe(name string, steps ...Step) *Recipe {
	return &Recipe{Name: name, What: "a test", Pins: []string{"demo"}, Toolchain: "go", Tools: []string{"sh", "cp"}, Steps: steps, Outputs: []string{"out"}}
}

// given provides folders of the test.
type given struct{ sources map[string]string }

func (g given) Source(_ context.Context, pin string) (string, error) {
	if dir, ok := g.sources[pin]; ok {
		return dir, nil
	}
	return "", errors.New("no source " + pin)
}

func (g given) Input(context.Context, string, string) (string, error) {
	return "", errors.New("no inputs here")
}

func (g given) Toolchain(_ context.Context, pin string) (string, error) {
	return "/toolchains/" + pin, nil
}
