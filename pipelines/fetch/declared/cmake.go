// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"path"
	"regexp"
	"strings"
)

// cmake looks at a CMake file.
func (f *file) cmake() {
	commands := cmakeCommands(string(f.content))
	vars := newCMakeVars(commands)
	for _, c := range commands {
		if len(c.args) == 0 {
			continue
		}
		switch c.name {
		case "set", "list", "string", "message", "if", "elseif", "else", "endif", "while", "foreach",
			"project", "set_property", "set_package_properties", "function", "macro", "option":
		case "file":
			if strings.EqualFold(c.args[0].text, "DOWNLOAD") && len(c.args) > 1 {
				f.cmakeDownload(c, vars)
			}
		case "cpmaddpackage", "cpmfindpackage", "cpmdeclarepackage":
			f.cmakeCPM(c, vars)
		case "fetchcontent_declare", "fetchcontent_populate":
			f.cmakeProject(c, FetchContent, vars)
		case "externalproject_add", "externalproject_add_step":
			f.cmakeProject(c, ExternalProject, vars)
			f.cmakePrograms(c, vars)
		case "execute_process", "add_custom_command", "add_custom_target", "exec_program":
			f.cmakePrograms(c, vars)
		default:
			f.cmakeProject(c, CMakeCall, vars)
		}
	}
}

// cmakeProject looks at a command with the options of ExternalProject.
func (f *file) cmakeProject(c cmakeCommand, kind Kind, vars *cmakeVars) {
	args := vars.list(c.args)
	if len(args) == 0 {
		return
	}
	options := cmakeOptions(args)
	d := Declared{Line: c.line, Kind: kind, Name: args[0].text, Command: c.text}
	if len(options[0].values) == 0 {
		d.Name = at(first(options, "NAME"), 0)
	}
	found := false
	tags := first(options, "GIT_TAG")
	for i, u := range first(options, "GIT_REPOSITORY") {
		d.URL, d.Rev, d.Hash, found = u, at(tags, i), "", true
		f.add(d)
	}
	hashes := first(options, "URL_HASH")
	for _, md5 := range first(options, "URL_MD5") {
		hashes = append(hashes, "MD5="+md5)
	}
	var urls []string
	for _, u := range first(options, "URL") {
		if !isLocal(u) && (kind != CMakeCall || strings.Contains(u, "://")) {
			urls = append(urls, u)
		}
	}
	for i, u := range urls {
		d.URL, d.Rev, d.Hash, found = u, "", at(hashes, i), true
		f.add(d)
	}
	for _, word := range []string{"SVN", "HG", "CVS"} {
		for _, u := range first(options, word+"_REPOSITORY") {
			d.URL, d.Hash, found = u, "", true
			d.Rev = at(first(options, word+"_TAG", word+"_REVISION"), 0)
			f.add(d)
		}
	}
	if found || kind == CMakeCall || c.name == "externalproject_add_step" {
		return
	}
	// A list that another file fills may hold an address.
	for _, a := range options[0].values[min(1, len(options[0].values)):] {
		if !a.quoted && strings.HasPrefix(a.text, "${") && strings.HasSuffix(a.text, "}") {
			d.URL, d.Rev, d.Hash = a.text, "", ""
			f.add(d)
			return
		}
	}
}

// isLocal reports whether a URL of ExternalProject is a path.
func isLocal(u string) bool {
	switch {
	case u == "":
		return true
	case strings.Contains(u, "://"):
		return strings.HasPrefix(strings.ToLower(u), "file://")
	case strings.HasPrefix(u, "${"):
		name, _, _ := strings.Cut(u[2:], "}")
		return strings.HasPrefix(name, "CMAKE_") || strings.HasPrefix(name, "PROJECT_") ||
			strings.HasSuffix(name, "_DIR") || strings.HasSuffix(name, "_ROOT")
	}
	return !strings.Contains(u, "$")
}

func (f *file) cmakeDownload(c cmakeCommand, vars *cmakeVars) {
	args := vars.list(c.args[1:])
	if len(args) == 0 || strings.HasPrefix(strings.ToLower(args[0].text), "file://") {
		return
	}
	options := cmakeOptions(args[1:])
	hash := at(first(options, "EXPECTED_HASH"), 0)
	if md5 := at(first(options, "EXPECTED_MD5"), 0); hash == "" && md5 != "" {
		hash = "MD5=" + md5
	}
	name := baseName(args[0].text)
	if name == "" && len(options[0].values) > 0 {
		name = path.Base(options[0].values[0].text)
	}
	f.add(Declared{Line: c.line, Kind: FileDownload, Name: name, URL: args[0].text, Hash: hash, Command: "file(DOWNLOAD)"})
}

// cpmShort is CPM's form of one argument: gh:owner/name@1.2 or …#tag.
var cpmShort = regexp.MustCompile(`^(?:([a-z]+):)?([^@#]+)(?:[@#](.*))?$`)

var cpmHosts = map[string]string{"gh": "https://github.com/", "gl": "https://gitlab.com/", "bb": "https://bitbucket.org/"}

func (f *file) cmakeCPM(c cmakeCommand, vars *cmakeVars) {
	args := vars.list(c.args)
	if len(args) == 0 {
		return
	}
	if len(args) == 1 || strings.EqualFold(args[0].text, "URI") && len(args) > 1 {
		uri := args[0].text
		if strings.EqualFold(uri, "URI") {
			uri = args[1].text
		}
		d := Declared{Line: c.line, Kind: CPM, URL: uri, Name: baseName(uri), Command: c.text}
		if m := cpmShort.FindStringSubmatch(uri); m != nil && !strings.Contains(uri, "://") && cpmHosts[m[1]] != "" {
			d.URL, d.Name, d.Rev = cpmHosts[m[1]]+m[2]+".git", path.Base(m[2]), m[3]
		} else if m != nil {
			if head, rev, ok := strings.Cut(uri, "#"); ok {
				d.URL, d.Name, d.Rev = head, baseName(head), rev
			}
		}
		f.add(d)
		return
	}
	options := cmakeOptions(args)
	d := Declared{Line: c.line, Kind: CPM, Name: at(first(options, "NAME"), 0), Command: c.text, Hash: at(first(options, "URL_HASH"), 0)}
	if d.Rev = at(first(options, "GIT_TAG"), 0); d.Rev == "" {
		d.Rev = at(first(options, "VERSION"), 0)
	}
	for word, host := range map[string]string{"GITHUB": cpmHosts["gh"], "GITLAB": cpmHosts["gl"], "BITBUCKET": cpmHosts["bb"]} {
		if r := at(first(options, word+"_REPOSITORY"), 0); r != "" {
			d.URL = host + r + ".git"
		}
	}
	for _, u := range first(options, "GIT_REPOSITORY", "URL") {
		d.URL = u
	}
	if d.URL == "" || isLocal(d.URL) && !strings.Contains(d.URL, "@") {
		return
	}
	if d.Name == "" {
		d.Name = baseName(d.URL)
	}
	f.add(d)
}

// cmakePrograms looks at the command lines inside a command.
func (f *file) cmakePrograms(c cmakeCommand, vars *cmakeVars) {
	options := cmakeOptions(c.args)
	if c.name == "exec_program" {
		options[0].word = "COMMAND"
		options[0].line = c.line
	}
	for _, o := range options {
		if o.word != "COMMAND" && !strings.HasSuffix(o.word, "_COMMAND") {
			continue
		}
		// An argument that is a variable is the program in it, if known.
		var words []string
		for _, a := range vars.list(o.values) {
			words = append(words, a.text)
		}
		f.program(o.line, words, 0)
	}
}

// baseName is a short name for what is at an address.
func baseName(u string) string {
	u, _, _ = strings.Cut(u, "?")
	u, _, _ = strings.Cut(u, "#")
	u = strings.TrimRight(u, "/")
	if i := strings.Index(u, "://"); i >= 0 {
		u = u[i+3:]
	}
	if i := strings.LastIndexAny(u, "/:"); i >= 0 {
		u = u[i+1:]
	}
	return strings.TrimSuffix(u, ".git")
}
