// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func TestParsePolicy(t *testing.T) {
	for name, x := range map[string]struct {
		text string
		want func(*Policy)
	}{
		"empty":         {"", func(*Policy) {}},
		"comments only": {"# nothing\n", func(*Policy) {}},
		"nothing":       {"---\n", func(*Policy) {}},
		"all": {"tries: 5\nmin-age: 0s\nalarm-after: 48h\nlease: 90m\n", func(p *Policy) {
			p.Tries, p.MinAge, p.AlarmAfter, p.Lease = 5, 0, 48*time.Hour, 90*time.Minute
		}},
		"stopped": {"stopped: {reason: ' moving '}\ngroups: {}\n", func(p *Policy) {
			p.Stopped, p.Groups = &Stop{"moving"}, map[string]GroupPolicy{}
		}},
		"one group": {"groups:\n  zinc: {stopped: {reason: waits}}\n", func(p *Policy) {
			p.Groups = map[string]GroupPolicy{"zinc": {Stopped: &Stop{"waits"}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePolicy([]byte(x.text), []string{"zinc"})
			if err != nil {
				t.Fatal(err)
			}
			want := DefaultPolicy()
			x.want(want)
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What somebody meant as a rule is never taken for the absence of one, and no
// message speaks of the program's types.
func TestParsePolicyRefuses(t *testing.T) {
	for name, x := range map[string]struct{ text, want string }{
		"no YAML":             {"tries: [", "did not find"},
		"a list":              {"[1]", "line 1: the file has keys: alarm-after, groups"},
		"unknown key":         {"min-age: 1h\nmax-age: 1h\n", `line 2: the file has no key "max-age"`},
		"twice":               {"tries: 1\ntries: 2\n", "line 2: tries is there twice"},
		"no number":           {"tries: many", "tries is a number from 1 to 100"},
		"no tries":            {"tries: 0", "tries is a number"},
		"no unit":             {"min-age: 5", "min-age is a duration"},
		"negative":            {"alarm-after: -1h", "alarm-after is a duration"},
		"too long":            {"min-age: 9000h", "min-age is a duration"},
		"a lease of nothing":  {"lease: 0s", "lease is a duration"},
		"stopped by nothing":  {"stopped:\n", "line 1: stopped needs a reason"},
		"stopped true":        {"stopped: true", "stopped needs a reason"},
		"no reason":           {"stopped: {}", "stopped needs a reason"},
		"no reason given":     {"stopped: {reason: }", "stopped needs a reason"},
		"a blank reason":      {"stopped: {reason: '  '}", "stopped needs a reason"},
		"a group by nothing":  {"groups: {zinc: {stopped: }}", "stopped needs a reason"},
		"no such group":       {"groups: {zink: {}}", `groups has no key "zink", only zinc`},
		"a group's other key": {"groups: {zinc: {tries: 1}}", `zinc has no key "tries", only stopped`},
		"two documents":       {"tries: 3\n---\nstopped: {reason: all}\n", "second document"},
		"all at once":         {"tries: 0\nlease: x\n", "line 1: tries is a number from 1 to 100; line 2: lease"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePolicy([]byte(x.text), []string{"zinc"})
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Fatalf("got %v, want %q", err, x.want)
			}
			if verdict.ExitCode(err) != verdict.ExitUsage {
				t.Errorf("the exit code is %d", verdict.ExitCode(err))
			}
			if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "struct") || strings.Contains(err.Error(), "nightly.P") {
				t.Errorf("not one sentence for people: %q", err)
			}
		})
	}
}
