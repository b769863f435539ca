// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"regexp"
	"slices"
	"strings"
)

// A tool is a program that downloads when it is called so.
type tool struct {
	verbs  []string // its first argument must be one of these; none: any call
	values []string // options that take the next argument as their value
	urls   bool     // its arguments are addresses
}

var pipValues = []string{"--python", "-p", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "-c", "--constraint", "--prefix", "--root"}

var hfValues = []string{"--local-dir", "--revision", "--repo-type", "--cache-dir", "--include", "--exclude", "--token"}

// tools are the programs that are known to download. Verbs of package managers
// are those that fetch; cargo build is not here, for Cargo.lock declares it.
var tools = map[string]tool{
	"curl": {urls: true, values: []string{"-o", "--output", "-H", "--header", "-d", "--data", "-A", "--user-agent", "-e", "--referer",
		"-x", "--proxy", "-u", "--user", "-w", "--write-out", "-m", "--max-time", "--retry", "--retry-delay", "--retry-max-time",
		"--connect-timeout", "-X", "--request", "-b", "--cookie", "-c", "--cookie-jar", "-C", "--continue-at", "-F", "--form",
		"--output-dir", "--cacert", "-D", "--dump-header", "--data-binary", "--data-raw", "-T", "--upload-file", "-r", "--range", "--create-file-mode"}},
	"wget": {urls: true, values: []string{"-O", "--output-document", "-P", "--directory-prefix", "-o", "--output-file", "-a", "-t", "--tries",
		"-T", "--timeout", "--header", "-U", "--user-agent", "-i", "-w", "--wait", "--waitretry", "-e"}},
	"aria2c":             {urls: true, values: []string{"-o", "--out", "-d", "--dir", "-x", "-s", "-j", "-k", "-c"}},
	"invoke-webrequest":  {urls: true, values: []string{"-outfile", "-headers", "-method", "-useragent", "-timeoutsec", "-body"}},
	"invoke-restmethod":  {urls: true, values: []string{"-outfile", "-headers", "-method", "-useragent", "-timeoutsec", "-body"}},
	"start-bitstransfer": {urls: true, values: []string{"-destination", "-priority", "-displayname"}},
	"git": {urls: true, verbs: []string{"clone", "fetch", "pull", "remote", "submodule"}, values: []string{"-b", "--branch", "--depth", "-C", "-c", "--config",
		"-j", "--jobs", "-o", "--origin", "--reference", "--filter", "--separate-git-dir", "--git-dir", "--work-tree"}},
	"pip": {verbs: []string{"install", "download", "wheel"}, values: pipValues}, "uv": {verbs: []string{"pip", "sync", "tool"}, values: pipValues}, "pipx": {verbs: []string{"install", "run"}},
	"npm": {verbs: []string{"ci", "install", "i", "add"}}, "npx": {}, "yarn": {verbs: []string{"install", "add", ""}}, "pnpm": {verbs: []string{"install", "i", "add"}},
	"cargo": {verbs: []string{"install", "fetch", "vendor", "add"}, values: []string{"--git", "--branch", "--tag", "--rev", "--version", "--vers", "--root", "--path", "--features", "-F", "--target", "--manifest-path"}}, "go": {verbs: []string{"install", "get", "mod"}},
	"huggingface-cli": {verbs: []string{"download"}, values: hfValues}, "hf": {verbs: []string{"download"}, values: hfValues},
}

// aliases are other names of the tools.
var aliases = map[string]string{
	"iwr": "invoke-webrequest", "irm": "invoke-restmethod", "pip3": "pip", "wget2": "wget", "aria2": "aria2c",
}

// wrappers are words before a command that run it; the number is how many
// arguments of their own come first.
var wrappers = map[string]int{
	"sudo": 0, "env": 0, "exec": 0, "time": 0, "nohup": 0, "command": 0, "builtin": 0, "nice": 0, "ionice": 0, "stdbuf": 0,
	"xargs": 0, "timeout": 1, "retry": 0,
	"call": 0, "start": 0, "travis_retry": 0, "eval": 0, "cmake": -1, "python": -2, "python3": -2, "py": -2, "bash": -3, "sh": -3, "zsh": -3,
	"dash": -3, "powershell": -3, "pwsh": -3, "cmd": -3,
}

var (
	assignmentRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
	redirectRE   = regexp.MustCompile(`^[0-9&]?(?:>>?|<)`)
	toolVarRE    = regexp.MustCompile(`^\$[({]?([A-Za-z0-9_]+)[)}]?$`)
	pipRE        = regexp.MustCompile(`^pip[0-9.]*$`)
	pythonRE     = regexp.MustCompile(`^python[0-9.]*$`)
)

// program looks at the words of one simple command.
func (f *file) program(line int, words []string, depth int) {
	if depth > maxDepth {
		return
	}
	for len(words) > 0 {
		name := toolName(words[0])
		if assignmentRE.MatchString(words[0]) || name == "" {
			words = words[1:]
			continue
		}
		if t, ok := tools[name]; ok {
			f.tool(line, name, t, words[1:])
			return
		}
		skip, ok := wrappers[name]
		if !ok {
			return
		}
		words = words[1:]
		switch skip {
		case -1: // cmake -E env NAME=value program
			if len(words) > 1 && words[0] == "-E" && (words[1] == "env" || words[1] == "time") {
				words = words[2:]
				continue
			}
			return
		case -2: // python -m pip
			i := slices.Index(words, "-m")
			if i < 0 || i+1 >= len(words) {
				return
			}
			words = words[i+1:]
			continue
		case -3: // sh -c 'text'
			for i, w := range words {
				switch l := strings.ToLower(w); {
				case l == "/c" || l == "-command":
					f.script(line, strings.Join(words[i+1:], " "), shellDialect, depth+1)
					return
				case strings.HasPrefix(l, "-") && strings.HasSuffix(l, "c") && !strings.HasPrefix(l, "--"):
					if i+1 < len(words) {
						f.script(line, words[i+1], shellDialect, depth+1)
					}
					return
				}
			}
			return
		}
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
		words = words[min(skip, len(words)):]
		if len(words) > 0 && strings.Contains(words[0], " ") && (name == "eval" || name == "env") {
			f.script(line, strings.Join(words, " "), shellDialect, depth+1)
			return
		}
	}
}

// toolName is the name by which a program is known here: without its folder
// and .exe; a variable such as ${CURL} or $(PIP3) counts as what it is named
// after.
func toolName(word string) string {
	w := strings.TrimLeft(word, "@-+")
	if m := toolVarRE.FindStringSubmatch(w); m != nil {
		w = strings.ToLower(m[1])
		for _, end := range []string{"_executable", "_bin", "_cmd", "_command", "_program"} {
			w = strings.TrimSuffix(w, end)
		}
		if strings.HasPrefix(w, "python") {
			w = "python"
		}
	} else if i := strings.LastIndexAny(w, `/\`); i >= 0 {
		w = w[i+1:]
	}
	w = strings.TrimSuffix(strings.ToLower(w), ".exe")
	switch {
	case pipRE.MatchString(w):
		return "pip"
	case pythonRE.MatchString(w):
		return "python"
	}
	if a, ok := aliases[w]; ok {
		return a
	}
	return strings.TrimSuffix(w, ".cmd")
}

// tool looks at the arguments of a program that may download.
func (f *file) tool(line int, name string, t tool, args []string) {
	d := Declared{Line: line, Kind: Script, Command: name}
	var plain []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		low := a
		if strings.HasPrefix(name, "invoke-") || name == "start-bitstransfer" {
			low = strings.ToLower(a)
		}
		switch {
		case redirectRE.MatchString(a):
			if strings.HasSuffix(a, ">") || strings.HasSuffix(a, "<") {
				i++
			}
		case a == "--version" || a == "--help" || a == "-V" && name != "git" || a == "-h" && len(args) == 1:
			return
		case name == "curl" && sends(a, at(args, i+1)):
			return // it talks to a service
		case slices.Contains(t.values, low):
			i++
		case isBundle(name, a) && strings.ContainsAny(a[len(a)-1:], "oO"):
			i++ // curl -fsSLo FILE, wget -qO FILE
		case strings.HasPrefix(a, "-") && a != "-":
		default:
			plain = append(plain, a)
		}
	}
	if len(t.verbs) > 0 {
		verb := ""
		if len(plain) > 0 {
			verb = plain[0]
			plain = plain[1:]
		}
		if !slices.Contains(t.verbs, verb) {
			return
		}
		d.Command = strings.TrimSpace(name + " " + verb)
	}
	if name == "git" && slices.Contains(args, "--local") {
		return
	}
	if t.urls {
		f.addresses(d, name, plain)
		return
	}
	switch d.Command {
	case "go install":
		if !slices.ContainsFunc(plain, func(s string) bool { return strings.Contains(s, "@") }) {
			return // of the module itself
		}
	case "go mod":
		if len(plain) == 0 || plain[0] != "download" && plain[0] != "vendor" && plain[0] != "tidy" {
			return
		}
		d.Command += " " + plain[0]
		plain = plain[1:]
	case "uv pip", "uv tool":
		if len(plain) == 0 || plain[0] != "install" {
			return
		}
		d.Command += " install"
		plain = plain[1:]
	case "cargo install":
		if i := slices.Index(args, "--git"); i >= 0 && i+1 < len(args) {
			d.URL = args[i+1]
		}
	}
	if i := slices.IndexFunc(args, func(s string) bool { return s == "-r" || s == "--requirement" }); i >= 0 && i+1 < len(args) && strings.Contains(d.Command, "pip") {
		plain = append([]string{"-r"}, plain...)
	}
	for _, p := range plain {
		if u, ok := address(p); ok && d.URL == "" {
			d.URL = u
		}
	}
	d.Name = strings.Join(plain, " ")
	f.add(d)
}

// sends reports whether an option makes curl send data.
func sends(option, next string) bool {
	switch name, value, _ := strings.Cut(option, "="); name {
	case "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "-F", "--form", "-T", "--upload-file":
		return true
	case "-X", "--request":
		if value == "" {
			value = next
		}
		return value != "GET"
	}
	return strings.HasPrefix(option, "-X") && len(option) > 2 && option != "-XGET"
}

// isBundle reports whether a is several one-letter options in one word, which
// may end with the option that names the output file.
func isBundle(name, a string) bool {
	if len(a) < 3 || a[0] != '-' || a[1] == '-' {
		return false
	}
	last := a[len(a)-1]
	return name == "curl" && last == 'o' || name == "wget" && last == 'O'
}

// addresses adds a finding for each address among the arguments, or for the
// variable that holds it.
func (f *file) addresses(d Declared, name string, plain []string) {
	var variable string
	found := false
	if d.Command == "git submodule" {
		if len(plain) == 0 || plain[0] != "add" {
			return // .gitmodules declares them
		}
	}
	for _, p := range plain {
		if u, ok := address(p); ok {
			found = true
			if f.isLoopback(u) {
				continue
			}
			d.URL, d.Name = u, baseName(u)
			f.add(d)
			if name == "git" {
				return
			}
		} else if strings.Contains(p, "$") || strings.Contains(p, "%") && len(p) > 2 {
			if variable == "" || name != "git" {
				variable = p
			}
		}
	}
	if found || d.Command == "git fetch" || d.Command == "git pull" || d.Command == "git remote" || d.Command == "git submodule" {
		return
	}
	if variable == "" && len(plain) > 0 && looksLikeHost(plain[0]) {
		variable = plain[0]
	}
	if variable != "" && !f.isLoopback(variable) {
		d.URL, d.Name = variable, baseName(variable)
		f.add(d)
	}
}

// address returns the address in a word, as https://… or git@host:path.
func address(w string) (string, bool) {
	if i := strings.Index(w, "://"); i > 0 {
		start := i
		for start > 0 && (isIdent(w[start-1]) || w[start-1] == '+') && w[start-1] != '_' {
			start--
		}
		// ${BASE}://… and x=https://… begin where the scheme does.
		if start == i {
			return w, true
		}
		u := w[start:]
		if end := strings.IndexAny(u, "\"'<> \t\r\n`\\"); end >= 0 {
			u = u[:end]
		}
		if strings.HasPrefix(strings.ToLower(u), "file://") {
			return "", false
		}
		return strings.TrimRight(u, ",;)"), true
	}
	if user, rest, ok := strings.Cut(w, "@"); ok && user == "git" && strings.Contains(rest, ":") {
		return w, true
	}
	return "", false
}

func looksLikeHost(w string) bool {
	host, _, _ := strings.Cut(w, "/")
	return strings.Contains(host, ".") && strings.Contains(w, "/") && !strings.HasPrefix(w, ".") && !isLoopback(w)
}

var loopbackRE = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:localhost|127\.[0-9.]+|0\.0\.0\.0|\[::1?\])(?:[:/]|$)`)

// isLoopback reports whether an address is on the machine itself.
func isLoopback(u string) bool { return loopbackRE.MatchString(u) }

var (
	assignedRE  = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)=("[^"\n]*"|'[^'\n]*'|[^\s;]*)`)
	localHostRE = regexp.MustCompile(`(?:^|[^A-Za-z0-9.-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?:[:/"'}]|$)`)
	hostVarRE   = regexp.MustCompile(`^(?:https?://)?\$\{?([A-Za-z_][A-Za-z0-9_]*)`)
)

// isLoopback is the function isLoopback, and knows variables to which the file
// gives nothing but addresses on the machine itself.
func (f *file) isLoopback(u string) bool {
	if isLoopback(u) {
		return true
	}
	m := hostVarRE.FindStringSubmatch(u)
	if m == nil {
		return false
	}
	if f.local == nil {
		f.local = map[string]bool{}
		for _, a := range assignedRE.FindAllStringSubmatch(string(f.content), -1) {
			is := localHostRE.MatchString(a[2])
			if old, ok := f.local[a[1]]; ok {
				is = is && old
			}
			f.local[a[1]] = is
		}
	}
	return f.local[m[1]]
}
