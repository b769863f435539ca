// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package inert

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// lookAlike maps what Markdown or GitHub acts upon, wherever it stands, to a
// character that looks like it and means nothing.
var lookAlike = map[rune]rune{
	'@':  '＠',                     // mentions, user@sha, e-mail addresses
	'#':  '＃',                     // issues, headings
	'`':  'ˋ',                     // code
	'\\': '＼',                     // escapes
	'*':  '∗', '_': '＿', '~': '～', // emphasis
	'[': '［', ']': '］', // links, images, footnotes, task lists, alerts
	'<': '＜', '>': '＞', '&': '＆', // HTML, entities, quotes
	'|': '｜', // table cells
	'$': '＄', // mathematics
}

// first maps what only acts at the beginning of a line.
var first = map[rune]rune{
	'-': '‑', '+': '＋', '=': '＝', // lists, rules, underlined headings
	':': '：', // the ruling of a table
	'/': '／', // commands to a bot
}

// Markdown returns s as one line of at most max runes that is plain text in a
// paragraph, a list item or a table cell of GitHub's Markdown, at the beginning
// of a line as well as inside: no mention, issue, pull request, advisory or
// commit reference, no closing word that closes, no link, image, code, HTML,
// emphasis, heading or list. Words stay readable.
func Markdown(s string, max int) string { return string(defused([]rune(Line(s, max)))) }

// Prose is [Markdown] for a sentence that people copy commits from: the name of
// one that stands in it as a word is not broken but becomes code, in which
// GitHub links nothing either. Of text it takes max runes, as [Markdown]; the
// back-ticks come to that.
func Prose(s string, max int) string {
	line := Line(s, max)
	var b strings.Builder
	in, done, runes := defused([]rune(line)), 0, 0
	for _, at := range commitWord.FindAllStringIndex(line, -1) {
		start := runes + utf8.RuneCountInString(line[done:at[0]])
		b.WriteString(string(in[runes:start]))
		b.WriteString("`" + line[at[0]:at[1]] + "`")
		done, runes = at[1], start+at[1]-at[0]
	}
	b.WriteString(string(in[runes:]))
	return b.String()
}

var commitWord = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)

// defused replaces, rune by rune, what acts.
func defused(in []rune) []rune {
	for i, r := range in {
		if l, ok := lookAlike[r]; ok {
			in[i] = l
		}
	}
	if len(in) > 0 {
		if l, ok := first[in[0]]; ok {
			in[0] = l
		}
	}
	orderedList(in)
	links(in)
	references(in)
	commits(in)
	return in
}

// orderedList defuses "1." and "1)" at the beginning.
func orderedList(in []rune) {
	i := 0
	for i < len(in) && in[i] >= '0' && in[i] <= '9' {
		i++
	}
	if i == 0 || i == len(in) {
		return
	}
	switch in[i] {
	case '.':
		in[i] = '．'
	case ')':
		in[i] = '）'
	}
}

// links defuses what GitHub links without brackets: "scheme://", "mailto:",
// "xmpp:" and "www.".
func links(in []rune) {
	for i, r := range in {
		switch r {
		case ':':
			if i+2 < len(in) && in[i+1] == '/' && in[i+2] == '/' ||
				endsWith(in[:i], "mailto") || endsWith(in[:i], "xmpp") {
				in[i] = '：'
			}
		case '.':
			if endsWith(in[:i], "www") {
				in[i] = '．'
			}
		}
	}
}

// references defuses GH-1, GHSA-… and CVE-…, in any case.
func references(in []rune) {
	for i, r := range in {
		if r == '-' && (endsWith(in[:i], "gh") || endsWith(in[:i], "ghsa") || endsWith(in[:i], "cve")) {
			in[i] = '‑'
		}
	}
}

// endsWith reports whether in ends with the lower-case ASCII word, in any case.
func endsWith(in []rune, word string) bool {
	if len(in) < len(word) {
		return false
	}
	return strings.ToLower(string(in[len(in)-len(word):])) == word
}

// commits breaks every run of seven or more hexadecimal digits, which GitHub
// links when a commit of that name exists: each seventh becomes fullwidth.
func commits(in []rune) {
	run := 0
	for i, r := range in {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' {
			if run++; run == 7 {
				in[i], run = r+0xfee0, 0
			}
			continue
		}
		run = 0
	}
}

// Code returns s as inline code of Markdown, of at most max runes of text, safe
// in a table cell too (| becomes ｜, since a cell ends there even inside code).
// GitHub links nothing inside code. Of nothing it is "".
func Code(s string, max int) string {
	t := strings.ReplaceAll(Line(s, max), "|", "｜")
	if t == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(t)+1)
	if strings.HasPrefix(t, "`") || strings.HasSuffix(t, "`") {
		t = " " + t + " "
	}
	return fence + t + fence
}

// Block returns s as a fenced block of Markdown, line end included, of at most
// maxLines lines of maxColumns runes. The fence is longer than any run of
// back-ticks inside. It must start at the beginning of a line.
func Block(s string, maxLines, maxColumns int) string {
	t := Text(s, maxLines, maxColumns)
	fence := strings.Repeat("`", max(3, longestRun(t)+1))
	return fence + "text\n" + t + "\n" + fence + "\n"
}

func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
