// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

var made = time.Date(2026, 11, 28, 3, 14, 15, 926, time.UTC)

func before(days int) time.Time { return made.AddDate(0, 0, -days).Add(-20 * time.Minute) }

// nights reads a strip, the last night at the right end; a dot is a gap.
func nights(strip, why string) []Night {
	letters := map[rune]verdict.Verdict{}
	for _, v := range verdict.All() {
		letters[rune(v[0])] = v
	}
	var list []Night
	for i, r := range strip {
		if v, ok := letters[r]; ok {
			n := Night{Date: before(len(strip) - 1 - i), Verdict: v}
			if v != verdict.Pass {
				n.Why = why
			}
			list = append(list, n)
		}
	}
	return list
}

// sample is a night on which everything that can happen did.
func sample() *Page {
	commit := func(digit string) string { return strings.Repeat(digit, 40) }
	return &Page{
		Title: "Nightly pins of the 1bit engine", Made: made, Night: "2026-11-28", Mode: round.Live, StateKnown: true,
		Notes: []string{"No archive is configured, so that every proposal is a draft."},
		Groups: []Group{
			{
				Name: "zinc", Verdict: verdict.Pass, State: "done",
				Members: []Member{{Pin: "zinc", Commit: commit("3a"[:1]), Seen: before(9), UpToDate: true}},
				Nights:  nights("pppppppppppppppppppppppppppppp", ""),
			},
			{
				Name: "llama-vulkan", Verdict: verdict.Pass, State: "wait",
				Members: []Member{{Pin: "llama-vulkan", Version: "v0.5.0", Commit: commit("7"), Seen: before(12), Newest: "v0.5.1", NewestSeen: before(2), Behind: "42 commits"}},
				Nights:  nights("ppppppppiippppppphhhpppp..pppp", "the mirror did not answer: connection refused"),
				Proposal: &Proposal{Branch: "bump/llama-vulkan", Title: "llama-vulkan: v0.5.0 to v0.5.1", Draft: true,
					URL: "https://github.com/1bit-MONSTER/engine/pull/12"},
			},
			{
				Name: "amd", Verdict: verdict.Fail, State: "gates",
				Members: []Member{
					{Pin: "llama-hrx", Commit: commit("0"), Seen: before(5), Newest: commit("e"), NewestSeen: before(1), Behind: "3 commits"},
					{Pin: "hrx-system", Commit: commit("9"), Seen: before(5), Newest: commit("4"), NewestSeen: before(1), Behind: "17 commits"},
				},
				Why:    "contracts: llama-hrx uses loomc_target_artifact_kind, which hrx-system no longer has",
				Alarm:  Overdue(before(5), made, AlarmAfter),
				Nights: nights("pppppppppppppppppppppppppfffff", "contracts: llama-hrx uses loomc_target_artifact_kind, which hrx-system no longer has"),
			},
			{
				Name: "rocmfpx", Verdict: verdict.Conflict, State: "rebase",
				Members: []Member{{Pin: "rocmfpx", Commit: commit("f"), Dated: before(40), Newest: commit("1"), NewestSeen: before(1), Behind: "1 commit"}},
				Why:     "0003-rocmi4-w4a4.patch: conflict in ggml/src/ggml-cuda/mmq.cu, since upstream's “mmq: split the tile loader”",
				Nights:  nights("..............pppppppppppppppc", "0003-rocmi4-w4a4.patch: conflict in ggml/src/ggml-cuda/mmq.cu"),
			},
			{
				Name: "lemonade", Verdict: verdict.Held, State: "hold",
				Members: []Member{{Pin: "lemonade", Version: "v9.1.4", Commit: commit("b"), Seen: before(31), Newest: "v10.0.0", NewestSeen: before(6), Behind: "311 commits"}},
				Why:     "held until 2026-12-31: the backend's manifest has another shape",
				Alarm:   Overdue(before(6), made, AlarmAfter),
				Nights:  nights("pppppppppppppppppppppppphhhhhh", "held until 2026-12-31: the backend's manifest has another shape"),
			},
			{
				Name: "tokenizers", Verdict: verdict.Skipped, State: "schedule",
				Members: []Member{{Pin: "tokenizers", Version: "v0.23.2", Commit: commit("8"), Seen: before(3), Newest: "v0.23.3", NewestSeen: before(0), Behind: "2 commits"}},
				Why:     "its day is Monday",
				Nights:  nights("p......p......p......p......ps", "its day is Monday"),
			},
			{
				Name: "xdna", Verdict: verdict.Infra, State: "fetch",
				Members: []Member{{Pin: "xdna-driver", Commit: commit("5"), Seen: before(2)}, {Pin: "xrt", Commit: commit("d"), Seen: before(2)}},
				Why:     "github.com did not answer within 30 s",
				Nights:  nights("pppppipppppppppppppppppppppppi", "github.com did not answer within 30 s"),
			},
			{Name: "therock", Members: []Member{{Pin: "therock"}}},
		},
	}
}

// hostile is a page whose every text is somebody else's.
func hostile() *Page {
	bad := "a\x1b[31m</td><script>alert(1)</script>\u202e@x | Fixes #1 [x](https://evil.example) `c` " +
		"\n| \u200b<img src=https://evil.example/x.png onerror=alert(1)> " + strings.Repeat("long", 400)
	return &Page{
		Title: bad, Night: bad, Mode: round.Mode(bad), Made: made, Notes: []string{bad},
		Groups: []Group{{
			Name: bad, Verdict: verdict.Verdict(bad), State: bad, Why: bad, Alarm: &Alarm{Since: before(4), Text: bad},
			Members:  []Member{{Pin: bad, Version: bad, Commit: bad, Newest: bad, Behind: bad}, {Pin: strings.Repeat("w", 2000)}},
			Nights:   []Night{{Date: made, Verdict: verdict.Verdict(bad), Why: bad}},
			Proposal: &Proposal{Branch: bad, Title: bad, URL: "javascript:alert(1)"},
		}},
	}
}

func render(t testing.TB, f func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, p := range map[string]*Page{"sample": sample(), "empty": {Made: made, Mode: round.DryRun}, "hostile": hostile()} {
		for ext, form := range map[string]func(io.Writer) error{".html": p.HTML, ".json": p.JSON, ".md": p.Markdown} {
			t.Run(name+ext, func(t *testing.T) {
				path := filepath.Join("testdata", name+ext)
				got := render(t, form)
				if again := render(t, form); again != got {
					t.Error("written twice, it differs")
				}
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), got); d != "" {
					t.Errorf("(-want +got):\n%s\nif this is right: go test ./pipelines/nightly/page -run TestGolden -update", d)
				}
			})
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	p := hostile()
	html, md, data := render(t, p.HTML), render(t, p.Markdown), render(t, p.JSON)
	for _, bad := range []string{"<script", "<img", "javascript:", "\x1b", "\u202e", "\u200b"} {
		for form, text := range map[string]string{"HTML": html, "Markdown": md, "JSON": data} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", form, bad)
			}
		}
	}
	for _, bad := range []string{"@x", "#1", "](", "https://"} {
		if strings.Contains(md, bad) {
			t.Errorf("Markdown has %q", bad)
		}
	}
	for line := range strings.SplitSeq(md, "\n") {
		if strings.HasPrefix(line, "|") && strings.Count(line, "|") != 6 {
			t.Errorf("a row has other cells: %s", line)
		}
	}
}

func TestJSONIsWhatIsShown(t *testing.T) {
	var got struct {
		Schema int `json:"schema"`
		Page
	}
	d := json.NewDecoder(strings.NewReader(render(t, sample().JSON)))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != Schema {
		t.Errorf("schema %d", got.Schema)
	}
	if d := cmp.Diff(sample().clean(), &got.Page); d != "" {
		t.Error(d)
	}
	var names []string
	for _, g := range got.Groups {
		names = append(names, g.Name)
	}
	if want := "amd lemonade rocmfpx xdna tokenizers llama-vulkan zinc therock"; strings.Join(names, " ") != want {
		t.Errorf("order: %s\nwant: %s", strings.Join(names, " "), want)
	}
}

func TestCleanLeavesThePage(t *testing.T) {
	p, same := hostile(), hostile()
	p.clean()
	if d := cmp.Diff(same, p); d != "" {
		t.Error(d)
	}
}

func TestOverdue(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		what  string
		since time.Time
		want  string
	}{
		{"not behind", time.Time{}, ""},
		{"just now", made, ""},
		{"a moment before three days", made.Add(-3*day + time.Nanosecond), ""},
		{"three days", made.Add(-3 * day), "upstream moved 3 days ago and the pin has not"},
		{"long", made.Add(-100 * day), "upstream moved 100 days ago and the pin has not"},
		{"a clock was wrong", made.Add(day), ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			got := ""
			if a := Overdue(c.since, made, AlarmAfter); a != nil {
				got = a.Text
				if !a.Since.Equal(c.since) {
					t.Errorf("since %v", a.Since)
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLastNights(t *testing.T) {
	night := func(days int, v verdict.Verdict) Night { return Night{Date: before(days), Verdict: v} }
	got := lastNights([]Night{
		night(0, verdict.Fail), night(30, verdict.Fail), night(29, verdict.Held), night(4, verdict.Infra),
		night(0, verdict.Pass), night(-1, verdict.Fail), night(2, "nonsense"),
	}, made)
	want := []Night{night(29, verdict.Held), night(4, verdict.Infra), night(2, verdict.Fail), night(0, verdict.Pass)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestStories(t *testing.T) {
	var got []string
	for _, s := range stories(lastNights(append(nights("fp.hhh.hip", "why"), Night{Date: before(1), Verdict: verdict.Held, Why: "other"}), made)) {
		got = append(got, s.When+" "+string(s.Verdict)+" "+s.Why)
	}
	want := []string{"27 Nov held other", "26 Nov held why", "22 Nov to 24 Nov held why", "19 Nov fail why"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "in the future", 0: "less than an hour ago", 59 * time.Minute: "less than an hour ago",
		61 * time.Minute: "an hour ago", 47 * time.Hour: "47 hours ago", 48 * time.Hour: "2 days ago", 1000 * time.Hour: "41 days ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestLink(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://github.com/a/b/pull/1": true, "https://forge.example:8443/x?y=1&z=%20#c": true, "http://github.com/a": false,
		"javascript:alert(1)": false, "https://a/x)](y": false, "https://a/x|y": false, "https://user@a/": false,
		"https://a/\u202e": false, "https://a/ b": false, "": false, "https://": false,
	} {
		if got := link(url); (got != "") != ok {
			t.Errorf("link(%q) = %q", url, got)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "page")
	for range 2 {
		if err := sample().Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, form := range map[string]func(io.Writer) error{HTMLFile: sample().HTML, JSONFile: sample().JSON, MarkdownFile: sample().Markdown} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(data) != render(t, form) {
			t.Errorf("%s is something else", name)
		}
	}
}
