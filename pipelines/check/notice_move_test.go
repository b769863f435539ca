// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/archtest"
	"github.com/1bit-MONSTER/engine/pins"
)

// noticeOf is what WriteNotice makes of pins and two modules.
func noticeOf(set *pins.Set) string {
	runtime := goRuntime
	if p := set.Pin(toolchainPin); p != nil {
		runtime.Version = p.Lock.Version
	}
	runtime.Texts = []Text{{runtime.Name + " " + runtime.Version + ": LICENSE", "the terms"}}
	return string(Notice(append(Pinned(set), runtime,
		Component{Name: "example.com/m", Version: "b1", License: "MIT", Use: Linked, Texts: []Text{{"example.com/m b1: LICENSE", "the terms"}}})))
}

func noticePins(change func(p *pins.Pin)) *pins.Set {
	set := &pins.Set{}
	for _, name := range []string{"aa", "bb", "go"} {
		p := &pins.Pin{Name: name, License: "MIT", Use: pins.BuildTool, Lock: &pins.Lock{Version: "b1"}}
		if name == "bb" {
			p.What, p.Upstream, p.Lock = "a b", "https://example.com/b.git", &pins.Lock{Commit: strings.Repeat("ab", 20)}
		}
		if change != nil {
			change(p)
		}
		set.Pins = append(set.Pins, p)
	}
	return set
}

func TestMoveNoticeIsWhatIsWritten(t *testing.T) {
	before := noticePins(nil)
	for _, name := range []string{"aa", "bb", "go"} {
		after := noticePins(func(p *pins.Pin) {
			if p.Name == name {
				p.Lock = &pins.Lock{Version: "v2.0"}
			}
		})
		got, err := MoveNotice([]byte(noticeOf(before)), before, after)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(noticeOf(after), string(got)); d != "" {
			t.Errorf("%s (-written +moved):\n%s", name, d)
		}
		if string(got) == noticeOf(before) {
			t.Errorf("%s: nothing changed", name)
		}
	}
	same, err := MoveNotice([]byte("anything"), before, before)
	if err != nil || string(same) != "anything" {
		t.Errorf("nothing moves: %q, %v", same, err)
	}
}

func TestMoveNoticeRefuses(t *testing.T) {
	before := noticePins(nil)
	moved := noticePins(func(p *pins.Pin) {
		if p.Name == "aa" {
			p.Lock = &pins.Lock{Version: "b2"}
		}
	})
	for _, c := range []struct {
		name, notice string
		after        *pins.Set
		want         string
	}{
		{"an old NOTICE", strings.Replace(noticeOf(before), "\naa b1\n", "\naa b0\n", 1), moved, "dist notice write"},
		{"twice", noticeOf(before) + noticeOf(before), moved, "2 times"},
		{"another licence", noticeOf(before), noticePins(func(p *pins.Pin) {
			if p.Name == "aa" {
				p.License = "ISC"
			}
		}), "more than the version"},
		{"another pin", noticeOf(before), &pins.Set{Pins: before.Pins[:2]}, "3 pins and then 2"},
	} {
		if _, err := MoveNotice([]byte(c.notice), before, c.after); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Every locked pin of this repository can be followed in its NOTICE.
func TestMoveNoticeOfThisRepository(t *testing.T) {
	root, err := archtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	notice, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := pins.Load(filepath.Join(root, "pins"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range before.Pins {
		if p.Lock == nil {
			continue
		}
		moved := *p
		moved.Lock = &pins.Lock{Version: "moved-on"}
		after := &pins.Set{Pins: slices.Clone(before.Pins)}
		after.Pins[i] = &moved
		got, err := MoveNotice(notice, before, after)
		if err != nil || !strings.Contains(string(got), "\n"+p.Name+" moved-on\n") {
			t.Errorf("pin %s: %v", p.Name, err)
		}
	}
}
