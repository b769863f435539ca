// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"errors"
	"slices"
	"testing"
)

// The first rows are public reports: xorbitsai/xllamacpp#182,
// canonical/inference-snaps#339 and opentelemetry-collector#7628.
var orders = []struct {
	name    string
	schemes []Scheme
	tags    []string // oldest first
}{
	{"builds before releases", []Scheme{{Pattern: "b{build}"}, {Pattern: "v{semver}"}},
		[]string{"b1", "b9998", "b9999", "b10000", "v0.5.0", "v0.5.1", "v1.0.0"}},
	{"kernel", []Scheme{{Pattern: "v{linux}"}},
		[]string{"v2.6.39.4", "v7.2", "v7.3-rc4", "v7.3-rc9", "v7.3-rc10", "v7.3", "v7.3.1", "v7.3.10", "v7.10-rc1"}},
	{"semver", []Scheme{{Pattern: "v{semver}"}},
		[]string{"v1.0.0-1", "v1.0.0-alpha", "v1.0.0-alpha.1", "v1.0.0-alpha.beta", "v1.0.0-beta", "v1.0.0-rc9", "v1.0.0-rc10", "v1.0.0", "v1.0.1"}},
	{"python", []Scheme{{Pattern: "v{pep440}"}},
		[]string{"v0.13.4.dev1", "v0.13.4a1", "v0.13.4.rc1", "v0.13.4rc2", "v0.13.4", "v0.13.4.post1", "v0.20.0rc1", "v0.20.0", "v1!0.1"}},
	{"calendar weeks", []Scheme{{Pattern: "{year}.{week}.{n}"}},
		[]string{"2025.52.9", "2026.9.1", "2026.39.1", "2026.39.2", "2026.39.10", "2026.40.0"}},
	{"dates", []Scheme{{Pattern: "nightly-{date}"}}, []string{"nightly-20260930", "nightly-2026-10-01"}},
	{"go", []Scheme{{Pattern: "go{go}"}}, []string{"go1.9rc2", "go1.26beta1", "go1.26rc1", "go1.26.0", "go1.26.8", "go1.26.10", "go1.27"}},
	{"go toolchains", []Scheme{{Pattern: "v0.0.1-go{go}.linux-amd64"}},
		[]string{"v0.0.1-go1.26.8.linux-amd64", "v0.0.1-go1.27rc1.linux-amd64", "v0.0.1-go1.27.4.linux-amd64"}},
	{"debian", []Scheme{{Pattern: "{debian}"}},
		[]string{"1.0~~", "1.0~~a", "1.0~", "1.0", "1.0-1", "1.0-1+b1", "1.0a", "1.0+dfsg-1", "1.0.1", "1.9", "1.10", "1:0.5"}},
	{"dots", []Scheme{{Pattern: "rocm-{dots}"}}, []string{"rocm-7.14", "rocm-7.14.1", "rocm-7.14.1.5", "rocm-10"}},
}

func TestOrder(t *testing.T) {
	for _, test := range orders {
		t.Run(test.name, func(t *testing.T) {
			s := mustSchemes(t, &Track{Schemes: test.schemes, Prerelease: PrereleaseYes})
			for i, a := range test.tags {
				for j, b := range test.tags {
					got, err := s.Compare(a, b)
					if want := sign(i - j); err != nil || got != want {
						t.Errorf("Compare(%q, %q) = %d, %v; want %d", a, b, got, err, want)
					}
				}
			}
			best, outside, err := s.Newest(test.tags)
			if want := test.tags[len(test.tags)-1]; best != want || outside != nil || err != nil {
				t.Errorf("Newest = %q, %q, %v; want %q", best, outside, err, want)
			}
		})
	}
}

func TestSame(t *testing.T) {
	for _, test := range []struct{ pattern, a, b, canon string }{
		{"v{semver}", "v1.2.3+x", "v1.2.3+y", "v1.2.3"},
		{"v{semver}", "v01.2.3-rc01", "v1.2.3-rc1", "v1.2.3-rc1"},
		{"v{linux}", "v7.3", "v7.3.0", "v7.3"},
		{"go{go}", "go1.27", "go1.27.0", "go1.27"},
		{"{pep440}", "1.0.0c1", "1.0.rc1", "1rc1"},
		{"{pep440}", "1.0-1", "1.post1", "1.post1"},
		{"{debian}", "1.0", "0:1.00-0", "0:1.0-0"},
		{"{date}", "2026-10-01", "20261001", "20261001"},
		{"{year}.{week}", "2026.09", "2026.9", "2026.9"},
	} {
		s := mustSchemes(t, &Track{Schemes: []Scheme{{Pattern: test.pattern}}})
		v, err1 := s.Parse(test.a)
		w, err2 := s.Parse(test.b)
		if err1 != nil || err2 != nil || v.Compare(w) != 0 || v.Canonical() != test.canon || w.Canonical() != test.canon {
			t.Errorf("%s: %q is %q, %q is %q (%v, %v); want both %q", test.pattern, test.a, v.Canonical(), test.b, w.Canonical(), err1, err2, test.canon)
		}
	}
}

func TestNewest(t *testing.T) {
	llama := Track{
		Schemes: []Scheme{{Pattern: "b{build}"}, {Pattern: "v{semver}", Since: "v0.5.0"}},
		Ignore:  []string{"gguf-v*"},
	}
	for _, test := range []struct {
		name    string
		track   Track
		tags    []string
		best    string
		outside []string
	}{
		{"a tag outside is named", Track{Schemes: []Scheme{{Pattern: "b{build}"}}}, []string{"b9998", "b9999", "b10000", "v1.0.0"}, "b10000", []string{"v1.0.0"}},
		{"ignored", llama, []string{"gguf-v0.19.0", "b10000", "v0.5.0"}, "v0.5.0", nil},
		{"older than since is outside", llama, []string{"v0.1.0", "b10000"}, "b10000", []string{"v0.1.0"}},
		{"no prereleases", llama, []string{"v0.5.0", "v0.6.0-rc1"}, "v0.5.0", nil},
		{"all prereleases", Track{Schemes: []Scheme{{Pattern: "v{semver}"}}, Prerelease: PrereleaseYes}, []string{"v0.6.0-rc1", "v0.6.0", "v0.7.0-alpha"}, "v0.7.0-alpha", nil},
		{"candidates only", Track{Schemes: []Scheme{{Pattern: "v{semver}"}}, Prerelease: PrereleaseBeforeRelease}, []string{"v0.7.0-alpha", "v0.6.0-rc1", "v0.5.9"}, "v0.6.0-rc1", nil},
		{"candidate after its release", Track{Schemes: []Scheme{{Pattern: "v{linux}"}}, Prerelease: PrereleaseBeforeRelease}, []string{"v7.3", "v7.3-rc10", "v7.3-rc9"}, "v7.3", nil},
		{"canonical spelling wins", Track{Schemes: []Scheme{{Pattern: "b{build}"}}}, []string{"b0007", "b7", "b07"}, "b7", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := mustSchemes(t, &test.track)
			best, outside, err := s.Newest(test.tags)
			if best != test.best || !slices.Equal(outside, test.outside) || err != nil {
				t.Errorf("Newest(%q) = %q, %q, %v; want %q, %q", test.tags, best, outside, err, test.best, test.outside)
			}
			slices.Reverse(test.tags)
			if again, _, _ := s.Newest(test.tags); again != best {
				t.Errorf("in another order the newest is %q, not %q", again, best)
			}
		})
	}
}

func TestNewestOfNothing(t *testing.T) {
	s := mustSchemes(t, &Track{Schemes: []Scheme{{Pattern: "v{semver}"}}})
	_, outside, err := s.Newest([]string{"main", "main", "v1.0.0-rc1"})
	var none *NoVersion
	if !errors.As(err, &none) || none.Tags != 3 || !slices.Equal(outside, []string{"main"}) {
		t.Errorf("got %q, %v", outside, err)
	}
	_, err = s.Compare("v1.0.0", "x")
	var out *OutsideScheme
	if !errors.As(err, &out) || out.Tag != "x" {
		t.Errorf("got %v", err)
	}
}

func TestBadSchemes(t *testing.T) {
	for _, test := range []Scheme{
		{Pattern: "main"}, {Pattern: "{nonsense}"}, {Pattern: "{n}{n}"}, {Pattern: "{n"}, {Pattern: "{n}}"},
		{Pattern: "v{semver}", Since: "1.0"}, {Pattern: "{week}", Since: "54"}, {Pattern: ""},
	} {
		if _, err := NewSchemes(&Track{Schemes: []Scheme{test}}); err == nil {
			t.Errorf("%+v was accepted", test)
		}
	}
}

func mustSchemes(t testing.TB, track *Track) *Schemes {
	t.Helper()
	s, err := NewSchemes(track)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(n int) int { return max(-1, min(1, n)) }
