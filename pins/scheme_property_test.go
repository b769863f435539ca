// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

// generators make tags for a pattern: few different numbers, so that equal and
// nearly equal versions are common.
var generators = map[string]func(r *rand.Rand) string{
	"b{build}":  func(r *rand.Rand) string { return "b" + num(r) },
	"v{semver}": func(r *rand.Rand) string { return "v" + genSemver(r) },
	"v{linux}": func(r *rand.Rand) string {
		return "v" + num(r) + "." + num(r) + some(r, "."+num(r)) + some(r, "-rc"+num(r))
	},
	"v{pep440}":         func(r *rand.Rand) string { return "v" + genPEP440(r) },
	"{year}.{week}.{n}": func(r *rand.Rand) string { return fmt.Sprintf("%d.%d.%s", 2025+r.IntN(2), 1+r.IntN(53), num(r)) },
	"nightly-{date}": func(r *rand.Rand) string {
		return fmt.Sprintf(pick(r, "nightly-2026%02d%02d", "nightly-2026-%02d-%02d"), 1+r.IntN(3), 1+r.IntN(4))
	},
	"go{go}": func(r *rand.Rand) string {
		return "go1." + num(r) + some(r, "."+num(r)) + some(r, pick(r, "rc", "beta")+num(r))
	},
	"{debian}":                genDebian,
	"rocm-{dots}":             func(r *rand.Rand) string { return "rocm-" + num(r) + some(r, "."+num(r)) + some(r, "."+num(r)) },
	"{month}/{day}-{n}":       func(r *rand.Rand) string { return fmt.Sprintf("%d/%02d-%s", 1+r.IntN(3), 1+r.IntN(3), num(r)) },
	"{major}.{minor}+{patch}": func(r *rand.Rand) string { return num(r) + "." + num(r) + "+" + num(r) },
}

func num(r *rand.Rand) string {
	return pick(r, "0", "1", "01", "2", "9", "10", "010", "99999999999999999999")
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func some(r *rand.Rand, s string) string {
	if r.IntN(2) == 0 {
		return ""
	}
	return s
}

func genSemver(r *rand.Rand) string {
	s := num(r) + "." + num(r) + "." + num(r)
	if r.IntN(2) == 0 {
		s += "-" + pick(r, "rc"+num(r), "rc."+num(r), "alpha", num(r), "beta-"+num(r)+"x")
		s += some(r, "."+pick(r, num(r), "a", "0a"))
	}
	return s + some(r, "+build")
}

func genPEP440(r *rand.Rand) string {
	return some(r, num(r)+"!") + num(r) + some(r, "."+num(r)) + some(r, ".0") +
		some(r, pick(r, "a", ".b", "rc", ".rc", "c", "-alpha.")+num(r)) +
		some(r, pick(r, ".post", "-", "-r")+num(r)) + some(r, ".dev"+num(r))
}

func genDebian(r *rand.Rand) string {
	s := some(r, pick(r, "0:", "1:")) + num(r)
	for range r.IntN(4) {
		s += pick(r, ".", "~", "+", "a", "~rc", "+dfsg", "-") + some(r, num(r))
	}
	return strings.TrimRight(s, "-") + some(r, "-"+num(r)+some(r, "~bpo"+num(r)))
}

// checkOrder holds what a total order is, on three tags at a time: antisymmetric,
// transitive, 0 exactly where the canonical forms are the same; and a canonical
// form is a version of its own that is the same.
func checkOrder(t *testing.T, s *Schemes, tags []string) {
	t.Helper()
	v := make([]Version, 0, len(tags))
	for _, tag := range tags {
		one, err := s.Parse(tag)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Parse(one.Canonical())
		if err != nil || again.Compare(one) != 0 || again.Canonical() != one.Canonical() {
			t.Fatalf("canonical form of %q is %q, which reads as %q (%v)", tag, one.Canonical(), again.Canonical(), err)
		}
		v = append(v, one)
	}
	for _, a := range v {
		for _, b := range v {
			ab := a.Compare(b)
			if ab != -b.Compare(a) {
				t.Fatalf("%q and %q: %d one way, %d the other", a.Tag, b.Tag, ab, b.Compare(a))
			}
			if same := a.Scheme == b.Scheme && a.Canonical() == b.Canonical(); same != (ab == 0) {
				t.Fatalf("%q (%s) and %q (%s) compare as %d", a.Tag, a.Canonical(), b.Tag, b.Canonical(), ab)
			}
			for _, c := range v {
				if ab <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
					t.Fatalf("%q <= %q <= %q, but not the first <= the last", a.Tag, b.Tag, c.Tag)
				}
			}
		}
	}
}

func TestOrderIsTotal(t *testing.T) {
	for pattern, generate := range generators {
		t.Run(pattern, func(t *testing.T) {
			s := mustSchemes(t, &Track{Schemes: []Scheme{{Pattern: pattern}}})
			r := rand.New(rand.NewPCG(1, 2))
			for range 120 {
				tags := make([]string, 8)
				for i := range tags {
					tags[i] = generate(r)
				}
				checkOrder(t, s, tags)
			}
		})
	}
}

func TestOrderOfSchemesIsTotal(t *testing.T) {
	list := []string{"b{build}", "nightly-{date}", "v{semver}", "rocm-{dots}", "go{go}"}
	track := &Track{Prerelease: PrereleaseYes}
	for _, p := range list {
		track.Schemes = append(track.Schemes, Scheme{Pattern: p})
	}
	s := mustSchemes(t, track)
	r := rand.New(rand.NewPCG(3, 4))
	for range 250 {
		tags := make([]string, 8)
		best := 0
		for i := range tags {
			n := r.IntN(len(list))
			best = max(best, n)
			tags[i] = generators[list[n]](r)
		}
		checkOrder(t, s, tags)
		newest, _, err := s.Newest(tags)
		if v, _ := s.Parse(newest); err != nil || v.Scheme != best {
			t.Fatalf("the newest of %q is %q (%v), which is not of the last scheme", tags, newest, err)
		}
	}
}

// The standard's own order, where it and ours mean to agree: identifiers that
// do not mix letters and digits.
func TestSemverAgrees(t *testing.T) {
	s := mustSchemes(t, &Track{Schemes: []Scheme{{Pattern: "v{semver}"}}})
	r := rand.New(rand.NewPCG(5, 6))
	one := func() string {
		n := func() string { return pick(r, "0", "1", "2", "10") }
		return "v" + n() + "." + n() + "." + n() + some(r, "-"+pick(r, "alpha", "rc", n())+some(r, "."+pick(r, "x", n())))
	}
	for range 20_000 {
		a, b := one(), one()
		if got, err := s.Compare(a, b); err != nil || got != semver.Compare(a, b) {
			t.Fatalf("Compare(%q, %q) = %d, %v; the standard says %d", a, b, got, err, semver.Compare(a, b))
		}
	}
}

// Debian's own program is the reference for Debian's order.
func TestDebianAgrees(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("skipped: dpkg is not here")
	}
	s := mustSchemes(t, &Track{Schemes: []Scheme{{Pattern: "{debian}"}}})
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		a, b := genDebian(r), genDebian(r)
		got, err := s.Compare(a, b)
		if err != nil {
			t.Fatal(err)
		}
		op := map[int]string{-1: "lt-nl", 0: "eq", 1: "gt-nl"}[got]
		if out, err := exec.Command(dpkg, "--compare-versions", a, op, b).CombinedOutput(); err != nil {
			t.Errorf("we say %q %s %q, dpkg says no (%v %s)", a, op, b, err, out)
		}
	}
}

func FuzzScheme(f *testing.F) {
	for pattern := range generators {
		f.Add(pattern, "v1.0.0-rc1", "b10000")
	}
	f.Add("v{semver}", "v1.0.0-0a", "v1.0.0-0")
	f.Add("{debian}", "1:1.0-1~bpo", "1.0~~")
	f.Fuzz(func(t *testing.T, pattern, a, b string) {
		s, err := NewSchemes(&Track{Schemes: []Scheme{{Pattern: pattern}}})
		if err != nil {
			return
		}
		v, err1 := s.Parse(a)
		w, err2 := s.Parse(b)
		if err1 != nil || err2 != nil {
			return
		}
		if v.Compare(w) != -w.Compare(v) || v.Compare(v) != 0 {
			t.Fatalf("%q: %q and %q have no order", pattern, a, b)
		}
		if (v.Canonical() == w.Canonical()) != (v.Compare(w) == 0) {
			t.Fatalf("%q: %q is %q, %q is %q, and they compare as %d", pattern, a, v.Canonical(), b, w.Canonical(), v.Compare(w))
		}
	})
}
