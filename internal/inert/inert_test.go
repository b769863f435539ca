// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package inert

import (
	"math/rand"
	"regexp"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

// The checkers are written against what terminals and GitHub act upon, without
// a look at how the package does it.

var (
	ansi     = regexp.MustCompile("[\x00-\x1f\x7f\u0080-\u009f]")
	bidi     = regexp.MustCompile("[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u00ad\u034f\u115f\u1160\u3164\uffa0\u180b-\u180e\ufe00-\ufe0f\U000e0000-\U000e0fff]")
	mention  = regexp.MustCompile(`@[A-Za-z0-9-]`)
	issue    = regexp.MustCompile(`(?i)#[0-9]|\bgh-[0-9]|\b(ghsa|cve)-`)
	closing  = regexp.MustCompile(`(?i)\b(close[sd]?|fix(e[sd])?|resolve[sd]?):?\s+(\S*#[0-9]|gh-[0-9]|https?://)`)
	url      = regexp.MustCompile(`(?i)[a-z]://|www\.|mailto:|xmpp:`)
	commit   = regexp.MustCompile(`[0-9a-fA-F]{7}`)
	markup   = regexp.MustCompile("[`<>&|\\\\*_~\\[\\]$]")
	atStart  = regexp.MustCompile(`^(#|>|[-+*=/]|\s|[0-9]+[.)]|:-)`)
	commands = regexp.MustCompile(`(?i)::|##\[|%0[ad]|%25`)
)

func forbidden(t *testing.T, what, in, out string, rules ...*regexp.Regexp) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%s(%.80q) is not UTF-8: %.80q", what, in, out)
	}
	for _, rule := range append(rules, ansi, bidi) {
		if m := rule.FindString(out); m != "" {
			t.Errorf("%s(%.80q) = %.80q holds %q (%v)", what, in, out, m, rule)
		}
	}
}

// check holds every function against one input.
func check(t *testing.T, s string, limit int) {
	t.Helper()
	for _, f := range []struct {
		name  string
		of    func(string, int) string
		rules []*regexp.Regexp
	}{
		{"Line", Line, nil},
		{"Markdown", Markdown, []*regexp.Regexp{mention, issue, closing, url, commit, markup, atStart}},
		{"Workflow", Workflow, []*regexp.Regexp{commands}},
	} {
		out := f.of(s, limit)
		forbidden(t, f.name, s, out, f.rules...)
		if n := utf8.RuneCountInString(out); n > max(limit, 0) {
			t.Errorf("%s(%.80q, %d) has %d runes", f.name, s, limit, n)
		}
		if again := f.of(out, limit); again != out {
			t.Errorf("%s is not idempotent: %.80q, then %.80q", f.name, out, again)
		}
	}
	checkProse(t, s, limit)
	forbidden(t, "Quote", s, Quote(s, limit))
	name := FileName(s)
	if !regexp.MustCompile(`^[A-Za-z0-9_+][A-Za-z0-9._+-]{0,99}$`).MatchString(name) || strings.HasSuffix(name, ".") {
		t.Errorf("FileName(%.80q) = %q", s, name)
	}
	if again := FileName(name); again != name {
		t.Errorf("FileName is not idempotent: %q, then %q", name, again)
	}
	code := Code(s, limit)
	forbidden(t, "Code", s, code, regexp.MustCompile(`\|`))
	if code != "" {
		fence := code[:len(code)-len(strings.TrimLeft(code, "`"))]
		inner := strings.TrimSuffix(strings.TrimPrefix(code, fence), fence)
		if strings.Contains(inner, fence) {
			t.Errorf("Code(%.80q) ends before its end: %.80q", s, code)
		}
	}
	block := strings.Split(strings.TrimSuffix(Block(s, 20, 100), "\n"), "\n")
	fence := strings.TrimSuffix(block[0], "text")
	if strings.Trim(fence, "`") != "" || len(fence) < 3 || block[len(block)-1] != fence {
		t.Errorf("Block(%.80q) has the fences %q and %q", s, block[0], block[len(block)-1])
	}
	for _, line := range block[1 : len(block)-1] {
		forbidden(t, "Block", s, line)
		if strings.Contains(line, fence) {
			t.Errorf("Block(%.80q) ends at %.80q", s, line)
		}
	}
	if len(block) > 22 {
		t.Errorf("Block(%.80q) has %d lines", s, len(block))
	}
}

// checkProse reads a sentence as Markdown does: between back-ticks stands only
// what may, what is left obeys the rules of Markdown, and nothing got lost.
func checkProse(t *testing.T, s string, limit int) {
	t.Helper()
	prose := Prose(s, limit)
	parts := strings.Split(prose, "`")
	if len(parts)%2 == 0 {
		t.Errorf("Prose(%.80q) leaves code open: %.80q", s, prose)
	}
	for i, part := range parts {
		switch {
		case i%2 == 1 && !regexp.MustCompile(`^[0-9a-f]{7,64}$`).MatchString(part):
			t.Errorf("Prose(%.80q) has the code %.80q", s, part)
		case i%2 == 0:
			rules := []*regexp.Regexp{mention, issue, url, commit, markup}
			if i == 0 {
				rules = append(rules, atStart)
			}
			forbidden(t, "Prose", s, part, rules...)
		}
	}
	if n := utf8.RuneCountInString(strings.Join(parts, "")); n != utf8.RuneCountInString(Line(s, limit)) {
		t.Errorf("Prose(%.80q) = %.80q has %d runes of text", s, prose, n)
	}
}

// pieces are what a hostile author puts together.
var pieces = []string{
	"\x1b[31m", "\x1b]8;;http://evil\x07", "\x1b]0;", "\x1bP", "\u009b2J", "\x1b", "\x07", "\x00", "\x7f", "\x80\xff", "\xc2", "\x9c",
	"\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\U000e0041", "\u3164", "\ufe0f", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
	"@someone", "@org/team", "＠x", "#1", "GH-1", "gh-22", "owner/repo#1", "user@d6345edcafe", "Fixes ", "closes: ", "Resolves https://github.com/o/r/issues/1",
	"d6345ed0123456789", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef", "GHSA-aaaa-bbbb-cccc", "CVE-2026-1234",
	"`", "``", "```\n", "~~~", "<script>", "<!--", "-->", "&#64;x", "&commat;", "\\", "|", "[a](b)", "![", "](", "[^1]", "[!NOTE]", "*", "_", "$x$",
	"http://a.b/c", "HTTPS://", "www.example.com", "WWW.x", "mailto:a", "://", ":", "::", ":::", "::set-output name=a::b", "##[", "#", "%0A", "%0d", "%25",
	"- ", "+ ", "1. ", "12) ", "---", "===", "> ", "/close", "    ", "\t", "\n", "\r\n", "\u2028", "\u00a0", "…", "a", "Z", "7", ".", "-", "con", "nul.txt", "..", "/",
}

func hostile(r *rand.Rand) string {
	var b strings.Builder
	for range r.Intn(12) {
		b.WriteString(pieces[r.Intn(len(pieces))])
	}
	return b.String()
}

func TestHostileTextIsInert(t *testing.T) {
	for _, a := range pieces {
		for i := 0; i < len(pieces); i += 3 {
			b := pieces[i]
			check(t, a+b, 80)
		}
	}
	r := rand.New(rand.NewSource(1))
	for range 1000 {
		check(t, hostile(r), r.Intn(60))
	}
	if err := quick.Check(func(s string, b []byte, limit uint8) bool {
		check(t, s, int(limit))
		check(t, string(b), int(limit))
		return !t.Failed()
	}, &quick.Config{MaxCount: 200}); err != nil {
		t.Error(err)
	}
}

// Little of a long text is cut off without fuss; a mebibyte goes through whole
// where all of it is asked for.
func TestAMebibyteOfEverything(t *testing.T) {
	for _, a := range pieces {
		s := strings.Repeat(a, 64<<10/len(a)+1)
		check(t, s, 72)
	}
	s := strings.Repeat(strings.Join(pieces, " "), 1<<20/len(strings.Join(pieces, " "))+1)
	check(t, s, 72)
	forbidden(t, "Markdown", s, Markdown(s, 1<<20), mention, issue, url, commit, markup, atStart)
	forbidden(t, "Workflow", s, Workflow(s, 1<<20), commands)
}

// The subject of VirtusLab/git-machete#127, and others, stay readable.
func TestWhatIsShown(t *testing.T) {
	for _, c := range []struct {
		name, got, want string
	}{
		{"git-machete#127", Markdown("Fixes #1 @someone `x`", 80), "Fixes ＃1 ＠someone ˋxˋ"},
		{"plain words", Markdown("ggml: add Q4 (faster), v0.5.0", 80), "ggml: add Q4 (faster), v0.5.0"},
		{"a pull request number", Markdown("vulkan: fix (#1234)", 80), "vulkan: fix (＃1234)"},
		{"a commit in a sentence", Prose("broken by bafc8fc95462 Use #1 (deadbeef), x0123456", 80), "broken by `bafc8fc95462` Use ＃1 (`deadbeef`), x012345６"},
		{"a commit at both ends", Prose("0123456 -> 89abcde", 80), "`0123456` -＞ `89abcde`"},
		{"an address with a commit", Prose("see https://up.example/commit/bafc8fc95462.", 80), "see https：//up.example/commit/`bafc8fc95462`."},
		{"colours", Line("\x1b[1;31mred\x1b[0m text", 80), "red text"},
		{"a title that never ends", Line("\x1b]0;hello", 80), "0;hello"},
		{"a link of a terminal", Line("a \x1b]8;;http://evil\x1b\\b\x1b]8;;\x1b\\ c", 80), "a b c"},
		{"white space", Line(" a\t\n b\u00a0c ", 80), "a b c"},
		{"cut", Line("abcdef", 4), "abc…"},
		{"exactly", Line("abcd", 4), "abcd"},
		{"trailing space is no text", Line("abcd ", 4), "abcd"},
		{"nothing", Line("abc", 0), ""},
		{"workflow", Workflow("::error::std::vector", 80), "：：error：：std：：vector"},
		{"code", Code("a`b", 80), "``a`b``"},
		{"code at the edge", Code("`", 80), "`` ` ``"},
		{"block", Block("a\n\n\tb\n```\n", 9, 80), "````text\na\n\n b\n```\n````\n"},
		{"text", Text("1\n2\n3\n4", 3, 80), "1\n2\n… 2 more lines"},
		{"quote", Quote("a\n\"\u202e\xff\x00", 80), `"a\n\"\u202e\xff\x00"`},
		{"file name", FileName("../Über/x.tar.gz"), "_.__ber_x.tar.gz"},
		{"device", FileName("NUL.txt"), "_UL.txt"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func FuzzInert(f *testing.F) {
	for _, p := range pieces {
		f.Add(p+" "+p, 40)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) { check(t, s, limit%500) })
}
