// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"regexp"
	"sort"
	"strings"
)

// A callForm is a function that downloads, with its address or name as the
// first text among its arguments.
type callForm struct {
	re      *regexp.Regexp // group 1: the function; group 2: the address or name
	address bool           // group 2 must be an address
	url     string         // before the name: what it is below
}

var pyCalls = []callForm{
	{re: regexp.MustCompile(`\b((?:urllib\.request\.|urllib2\.|request\.)?(?:urlopen|urlretrieve|Request)|(?:requests|httpx|session|aiohttp)\.(?:get|post|request|head|stream)|wget\.download|torch\.hub\.(?:load_state_dict_from_url|download_url_to_file)|download_url|gdown\.download)\s*\(\s*(?:url\s*=\s*|["'](?:GET|POST)["']\s*,\s*)?[rbfuRBFU]{0,2}["']([^"'\n]+)["']`), address: true},
	{re: regexp.MustCompile(`\b(hf_hub_download|snapshot_download)\s*\(\s*(?:repo_id\s*=\s*)?["']([^"'\n]+)["']`), url: "https://huggingface.co/"},
}

var psCalls = []callForm{
	{re: regexp.MustCompile(`(?i)\.(DownloadFile|DownloadString|DownloadData|GetAsync|GetStringAsync)\s*\(\s*["']?([^"'\s,)]+)`)},
}

var (
	pyArgvRE  = regexp.MustCompile(`[\[(]\s*((?:[rbfuRBFU]{0,2}(?:"[^"\n]*"|'[^'\n]*')\s*,\s*|[A-Za-z_][A-Za-z0-9_.]*\s*,\s*)+[^\])\n]*)`)
	pyShellRE = regexp.MustCompile(`\b(?:os\.(?:system|popen)|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput))\s*\(\s*[rbfuRBFU]{0,2}(?:"([^"\n]+)"|'([^'\n]+)')`)
	pyWordRE  = regexp.MustCompile(`"([^"\n]*)"|'([^'\n]*)'|([A-Za-z_][A-Za-z0-9_.]*)`)
)

// python looks at a Python file: functions that download from a literal
// address, and programs that it starts.
func (f *file) python() {
	text := pythonCode(string(f.content))
	f.calls(text, pyCalls)
	lines := newLines(text)
	for _, m := range pyShellRE.FindAllStringSubmatchIndex(text, maxPerFile) {
		body := group(text, m, 1) + group(text, m, 2)
		f.script(lines.at(m[0]), body, shellDialect, 0)
	}
	for _, m := range pyArgvRE.FindAllStringSubmatchIndex(text, -1) {
		var words []string
		for _, w := range pyWordRE.FindAllStringSubmatch(group(text, m, 1), maxItems) {
			switch {
			case w[3] == "sys.executable":
				words = append(words, "python")
			case w[3] != "" && len(w[3]) > 1:
				words = append(words, "${"+w[3]+"}")
			case w[3] == "":
				words = append(words, w[1]+w[2])
			}
		}
		if len(words) > 1 && !strings.HasPrefix(words[0], "$") {
			f.program(lines.at(m[2]), words, 0)
		}
	}
}

// calls looks for the functions that download.
func (f *file) calls(text string, forms []callForm) {
	lines := newLines(text)
	for _, form := range forms {
		for _, m := range form.re.FindAllStringSubmatchIndex(text, maxPerFile) {
			name, u := group(text, m, 1), group(text, m, 2)
			if form.address && !strings.Contains(u, "://") || isLoopback(u) || strings.HasPrefix(u, "file://") {
				continue
			}
			if form.address && strings.Contains(u, "://{") {
				continue // an address made of variables alone
			}
			d := Declared{Line: lines.at(m[0]), Kind: Script, Name: baseName(u), URL: u, Command: name}
			if form.url != "" {
				d.Name, d.URL = u, form.url+u
			}
			f.add(d)
		}
	}
}

func group(s string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return s[m[2*n]:m[2*n+1]]
}

// pythonCode blanks the comments and the texts in triple quotes of a file.
func pythonCode(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], `"""`) || strings.HasPrefix(s[i:], "'''"):
			body, _, closed := strings.Cut(s[i+3:], s[i:i+3])
			b.WriteString(`""`)
			b.WriteString(strings.Repeat("\n", strings.Count(body, "\n")))
			i += 3 + len(body)
			if closed {
				i += 3
			}
		case c == '"' || c == '\'':
			start := i
			for i++; i < len(s) && s[i] != c && s[i] != '\n'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(s))
			b.WriteString(s[start:i])
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// lineIndex finds the line of an offset.
type lineIndex []int

func newLines(s string) lineIndex {
	var ends lineIndex
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

func (l lineIndex) at(offset int) int { return sort.SearchInts(l, offset) + 1 }
