// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

const commit1 = git.ID("1111111111111111111111111111111111111111")

// every is one event of each kind, with everything set that it may have.
func every() []Event {
	events := []Event{
		sightOf(zinc, [3]string{"zinc", "1", "2"}, [3]string{"zig", "3", "3"}),
		{Kind: Claimed, Night: night1, Group: zinc, Owner: "0123456789abcdef"},
		{Kind: Began, Night: night1, Group: zinc, RoundID: roundID(1), Try: 2, Round: &round.Round{Schema: 1, ID: roundID(1), Group: zinc, At: day(1)}},
		{Kind: Ended, Night: night1, Group: zinc, State: "gates", Verdict: verdict.Fail, Why: "a <b> & c", Gates: []Gate{{Name: "build", Verdict: verdict.Fail, Why: "no", Seconds: 1.5}}},
		{Kind: Handed, Night: night1, Group: zinc, RoundID: roundID(1), Digest: strings.Repeat("0a", 32)},
		{Kind: Pushing, Night: night1, Group: zinc, RoundID: roundID(1), Branch: "bump/zinc", Commit: string(commit1)},
		proposed(1, commit1),
		{Kind: Done, Group: zinc, Night: night1, RoundID: roundID(1), Commit: string(commit1)},
		{Kind: Retry, Group: zinc, Night: night1, By: "a person"},
	}
	events[0].Members[0].Behind = "42 commits"
	events[6].Draft = true
	return at(day(1), events...)
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, e := range every() {
		t.Run(string(e.Kind), func(t *testing.T) {
			line, err := encode(e)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(line), `{"kind":"`+string(e.Kind)+`","at":"2026-10-02T00:00:00Z","night":`) || strings.Count(string(line), "\n") != 1 {
				t.Errorf("line %s", line)
			}
			got, err := decode(line, zinc)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(e, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLocksAreNotWritten(t *testing.T) {
	t.Parallel()
	lock := &pins.Lock{Version: "v9", Commit: string(commit1)}
	e := every()[2]
	e.Round.Members = []round.Member{{Pin: "zinc", To: v("2"), Lock: lock, Notes: []string{"x"}}}
	line, err := encode(e)
	if err != nil || strings.Contains(string(line), "lock") {
		t.Errorf("%s, %v", line, err)
	}
	if e.Round.Members[0].Lock != lock {
		t.Error("the caller's round was changed")
	}
}

// What a terminal acts on or does not show is escaped in the file, and is there
// again, byte for byte, when it is read: names are compared.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"v1\u202e2", "\x1b[31mred", "a\u200bb", "\U000e0041tag", "line\nline", "\u2028", "<script>", `"quote\`} {
		e := sight("1", "2")
		e.At, e.Members[0].Newest.Name = day(1), name
		line, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"\u202e", "\x1b", "\u200b", "\U000e0041", "\u2028"} {
			if strings.Contains(string(line), bad) {
				t.Errorf("%q is in the line %q", bad, line)
			}
		}
		if got, err := decode(line, zinc); err != nil || got.Members[0].Newest.Name != name {
			t.Errorf("%q came back as %+v, %v", name, got, err)
		}
	}
}

// bad events: each is refused when it is written and skipped when it is read.
func bad() map[string]func(*Event) {
	return map[string]func(*Event){
		"kind":            func(e *Event) { e.Kind = "exploded" },
		"group":           func(e *Event) { e.Group = "../zinc" },
		"night":           func(e *Event) { e.Night = "a b" },
		"no night":        func(e *Event) { e.Night = "" },
		"round id":        func(e *Event) { e.RoundID = "xyz" },
		"before all time": func(e *Event) { e.At = day(-3000) },
		"negative try":    func(e *Event) { e.Try = -1 },
		"no members":      func(e *Event) { e.Members = nil },
		"pin":             func(e *Event) { e.Members[0].Pin = "Zinc" },
		"pin twice":       func(e *Event) { e.Members = append(e.Members, e.Members[0]) },
		"no version":      func(e *Event) { e.Members[0].Newest.ID = "" },
		"no owner":        func(e *Event) { e.Kind = Claimed },
		"no round":        func(e *Event) { e.Kind = Began },
		"another's round": func(e *Event) {
			e.Kind, e.RoundID, e.Round = Began, roundID(1), &round.Round{ID: roundID(2), Group: zinc}
		},
		"verdict":      func(e *Event) { e.Kind, e.Verdict = Ended, "passed" },
		"gate verdict": func(e *Event) { e.Kind, e.Verdict, e.Gates = Ended, verdict.Pass, []Gate{{Name: "x"}} },
		"no commit":    func(e *Event) { e.Kind, e.Branch = Proposed, "bump/zinc" },
		"no digest":    func(e *Event) { e.Kind, e.RoundID = Handed, roundID(1) },
		"digest":       func(e *Event) { e.Kind, e.RoundID, e.Digest = Handed, roundID(1), "sha256:"+strings.Repeat("0a", 32) },
		"push nothing": func(e *Event) { e.Kind, e.Branch = Pushing, "bump/zinc" },
		"commit":       func(e *Event) { e.Kind, e.Branch, e.Commit = Proposed, "bump/zinc", "--force" },
		"branch":       func(e *Event) { e.Kind, e.Branch, e.Commit = Proposed, "a b", string(commit1) },
	}
}

func TestBadEventsAreNotWritten(t *testing.T) {
	t.Parallel()
	for name, spoil := range bad() {
		e := at(day(1), sight("1", "2"))[0]
		spoil(&e)
		if line, err := encode(e); err == nil {
			t.Errorf("%s: %s", name, line)
		}
	}
	e := at(day(1), ended(night1, verdict.Fail))[0]
	e.Why = strings.Repeat("x", maxLine)
	if _, err := encode(e); err == nil {
		t.Error("a line that nobody reads was written")
	}
}

// A line that cannot be read is skipped, named, and does not touch the others.
func TestCorruptedLines(t *testing.T) {
	t.Parallel()
	good, err := encode(at(day(1), sight("1", "2"))[0])
	if err != nil {
		t.Fatal(err)
	}
	g := string(good)
	future := strings.Replace(g, `"kind":"sighted"`, `"kind":"sighted","colour":{"of":["the","future"]}`, 1)
	for _, x := range []struct{ name, text, note string }{
		{"no json", "rubbish", "events/zinc/2026-10.jsonl:2 was skipped: it is no event"},
		{"a merge's marks", "<<<<<<< HEAD", ":2 was skipped"},
		{"cut off", g[:40], ":2 was skipped"},
		{"two in one line", strings.TrimSpace(g) + g, ":2 was skipped"},
		{"another kind", strings.Replace(g, "sighted", "teleported", 1), ":2 was skipped: its kind is not known"},
		{"another group", strings.Replace(g, `"group":"zinc"`, `"group":"zig"`, 1), ":2 was skipped: it is of the group zig"},
		{"another type", strings.Replace(g, `"group":"zinc"`, `"group":7`, 1), ":2 was skipped"},
		{"a list", "[]", ":2 was skipped"},
		{"null", "null", ":2 was skipped"},
		{"too long", `{"kind":"` + strings.Repeat("x", maxLine) + `"}`, ":2 was skipped: it has more than"},
		{"a time that is none", strings.Replace(g, "2026-10-02T", "\\u001b[2J", 1), ":2 was skipped"},
		{"not UTF-8", "\xff\xfe", ":2 was skipped"},
		{"blank", "  \r", ""},
		{"a field of a newer version", future, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			var notes []string
			l := &Ledger{said: map[string]bool{}}
			text := g + strings.TrimSuffix(x.text, "\n") + "\n" + strings.TrimSuffix(g, "\n")
			events := parse(nil, []byte(text), "events/zinc/2026-10.jsonl", zinc, l.note)
			notes = l.Notes()
			want := 2
			if x.name == "a field of a newer version" {
				want = 3
			}
			if len(events) != want {
				t.Errorf("%d events, want %d", len(events), want)
			}
			if x.note == "" && len(notes) != 0 || x.note != "" && (len(notes) != 1 || !strings.Contains(notes[0], x.note)) {
				t.Errorf("notes %q", notes)
			}
			if strings.ContainsFunc(strings.Join(notes, ""), func(r rune) bool { return r < 0x20 }) {
				t.Errorf("a note is not inert: %q", notes)
			}
		})
	}
}

// The same on a real branch, and what is no month's file or too large; events
// can still be added, also where the month's name is taken.
func TestHostileBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good, err := encode(at(day(1), sight("1", "2"))[0])
	if err != nil {
		t.Fatal(err)
	}
	w.remote.Commit(Branch, "hostile", gittest.Files{
		"events/zinc/2026-09.jsonl":                     string(good),
		"events/zinc/2026-10.jsonl":                     strings.Repeat("x", maxFile+1),
		"events/zinc/2026-13.jsonl":                     string(good),
		"events/zinc/2026-11.jsonl/deep":                string(good),
		"events/zig/2026-10.jsonl":                      strings.Repeat("rubbish\n", 1000) + strings.TrimSpace(strings.ReplaceAll(string(good), `"zinc"`, `"zig"`)),
		"events/\u202e-hidden/2026-10.jsonl":            string(good),
		"events/zinc/\x1b[2J.jsonl":                     string(good),
		"events/zinc/" + strings.Repeat("n", 3000):      "",
		"events/" + strings.Repeat("a", 200) + "/x.txt": "",
	}, gittest.Symlink("events/zinc/2026-12.jsonl", "/etc/passwd"), gittest.Onto())
	l := open(t, w.options(day(1)))
	m := w.memory(l, zinc)
	if m.Events != 1 || m.Last().Members[0].Newest.ID != "2" {
		t.Errorf("%+v", m)
	}
	w.add(l, sight("1", "3"))
	if got := w.file("events/zinc/2027-01.jsonl"); !strings.Contains(got, `"id":"3"`) {
		t.Errorf("added %s", got)
	}
	if m = w.memory(l, zinc); m.Events != 2 || m.Last().Members[0].Newest.ID != "3" {
		t.Errorf("after adding: %+v", m)
	}
	w.add(l, sightOf("zig", [3]string{"zig", "1", "4"})) // its last line has no end
	all, err := l.Memories(t.Context())
	if err != nil || len(all) != 3 || all["zig"].Events != 2 {
		t.Errorf("memories %v, %v", all, err)
	}
	for _, text := range []string{"2026-10.jsonl\" on the branch nightly-state has more than 8 MiB", "2026-12.jsonl\" on the branch nightly-state is no plain file",
		"2026-13.jsonl\" on the branch", "hidden\" on the branch", "events/zig/2026-10.jsonl:3 was skipped", "events/zig/2026-10.jsonl: 1000 lines in all"} {
		wantNote(t, l, text)
	}
	if n := len(l.Notes()); n > 20 {
		t.Errorf("%d notes", n)
	}
	for _, n := range l.Notes() {
		if len([]rune(n)) > 500 || strings.ContainsAny(n, "\u202e\x1b\n") {
			t.Errorf("the note %q is not inert", n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range every() {
		line, err := encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"kind":"sighted","members":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := decode(line, zinc)
		if err != nil {
			return
		}
		// What was read can be written and read again, and folded.
		again, err := encode(e)
		if err != nil {
			t.Fatalf("read, but not written: %v", err)
		}
		if _, err := decode(again, zinc); err != nil {
			t.Fatalf("written, but not read: %v", err)
		}
		if m := fold(zinc, day(1), []Event{e}); m.Events != 1 {
			t.Fatal(fmt.Sprint(m))
		}
	})
}
