// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"slices"
	"strings"
)

// cmakeVars holds what a file gives its variables. A variable with several
// different values, or one that is computed, is not replaced inside text.
type cmakeVars struct {
	assigned map[string][][]cmakeArg // by each set() and list(APPEND)
	computed map[string]bool
	text     map[string]*string // replaced values; nil while at work or not known
	items    map[string][]cmakeArg
	depth    int
}

// maxItems bounds the items of a list variable.
const maxItems = 1000

// maxDepth bounds how deep values name each other, and commands nest.
const maxDepth = 50

func newCMakeVars(commands []cmakeCommand) *cmakeVars {
	v := &cmakeVars{map[string][][]cmakeArg{}, map[string]bool{}, map[string]*string{}, map[string][]cmakeArg{}, 0}
	for _, c := range commands {
		if len(c.args) == 0 {
			continue
		}
		switch name := c.args[0].text; c.name {
		case "set":
			values := c.args[1:]
			for i, a := range values {
				if !a.quoted && (a.text == "CACHE" || a.text == "PARENT_SCOPE") {
					values = values[:i]
					break
				}
			}
			v.assigned[name] = append(v.assigned[name], values)
		case "foreach":
			v.computed[name] = true
		case "list", "string":
			if len(c.args) > 1 && (strings.EqualFold(name, "APPEND") || strings.EqualFold(name, "PREPEND")) {
				name = c.args[1].text
				v.computed[name] = true
				if c.name == "list" {
					v.assigned[name] = append(v.assigned[name], c.args[2:])
				}
			}
		}
	}
	return v
}

// value returns a variable's only value. An empty default is
// no value: such a variable is meant to be given from outside.
func (v *cmakeVars) value(name string) (string, bool) {
	if p, ok := v.text[name]; ok {
		if p == nil {
			return "", false
		}
		return *p, true
	}
	v.text[name] = nil // a circle ends here
	if v.depth >= maxDepth {
		return "", false
	}
	v.depth++
	defer func() { v.depth-- }()
	all := v.assigned[name]
	if v.computed[name] || len(all) == 0 {
		return "", false
	}
	value := func(args []cmakeArg) string {
		var b strings.Builder
		for i, a := range args {
			if i > 0 {
				b.WriteByte(';')
			}
			b.WriteString(v.replace(a))
			if b.Len() > maxText {
				break
			}
		}
		return b.String()
	}
	first := value(all[0])
	for _, other := range all[1:] {
		if value(other) != first {
			return "", false
		}
	}
	if first == "" || len(first) > maxText || strings.Contains(first, "${"+name+"}") {
		return "", false
	}
	v.text[name] = &first
	return first, true
}

// replace puts the known variables of an argument into its text.
func (v *cmakeVars) replace(a cmakeArg) string {
	if a.raw || !strings.Contains(a.text, "${") {
		return a.text
	}
	var b strings.Builder
	s := a.text
	for b.Len() <= maxText {
		i := strings.Index(s, "${")
		if i < 0 {
			break
		}
		n := strings.IndexAny(s[i+2:], "}$")
		if n < 0 || s[i+2+n] == '$' { // not closed, or nested: ${A_${B}}
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		whole := s[i : i+n+3]
		if value, ok := v.value(whole[2 : len(whole)-1]); ok {
			b.WriteString(value)
		} else {
			b.WriteString(whole)
		}
		s = s[i+n+3:]
	}
	b.WriteString(s)
	return b.String()
}

// list replaces arguments that are a list variable by all that the file puts
// into that list, then replaces inside each.
func (v *cmakeVars) list(args []cmakeArg) []cmakeArg {
	var out []cmakeArg
	for _, a := range args {
		for _, item := range v.expand(a) {
			if len(out) >= maxItems {
				return out
			}
			item.text = v.replace(item)
			item.line = a.line
			out = append(out, item)
		}
	}
	return out
}

func (v *cmakeVars) expand(a cmakeArg) []cmakeArg {
	name, ok := strings.CutPrefix(a.text, "${")
	name, closed := strings.CutSuffix(name, "}")
	if a.quoted || !ok || !closed || strings.ContainsAny(name, "${}") || len(v.assigned[name]) == 0 {
		return []cmakeArg{a}
	}
	if items, ok := v.items[name]; ok {
		return items
	}
	v.items[name] = []cmakeArg{{text: a.text, line: a.line, quoted: true}} // a circle ends here
	if v.depth >= maxDepth {
		return v.items[name]
	}
	v.depth++
	defer func() { v.depth-- }()
	if _, one := v.value(name); one && len(v.assigned[name][0]) == 1 {
		if inner := v.assigned[name][0][0]; inner.quoted || !strings.HasPrefix(inner.text, "${") {
			v.items[name] = []cmakeArg{a} // one value: replaced as text
			return v.items[name]
		}
	}
	var items []cmakeArg
	for _, values := range v.assigned[name] {
		for _, value := range values {
			if len(items) < maxItems {
				items = append(items, v.expand(value)...)
			}
		}
	}
	if len(items) > maxItems {
		items = items[:maxItems]
	}
	v.items[name] = items
	return items
}

// cmakeWords are the words of ExternalProject, FetchContent and CPM that start
// an option, as far as they matter for where a value ends.
var cmakeWords = []string{
	"URL", "URL_HASH", "URL_MD5", "GIT_REPOSITORY", "GIT_TAG", "GIT_SHALLOW", "GIT_PROGRESS", "GIT_SUBMODULES",
	"GIT_SUBMODULES_RECURSE", "GIT_REMOTE_NAME", "GIT_CONFIG", "GIT_REMOTE_UPDATE_STRATEGY", "SVN_REPOSITORY", "SVN_REVISION",
	"HG_REPOSITORY", "HG_TAG", "CVS_REPOSITORY", "CVS_MODULE", "CVS_TAG", "SOURCE_DIR", "BINARY_DIR", "PREFIX", "TMP_DIR",
	"STAMP_DIR", "LOG_DIR", "DOWNLOAD_DIR", "INSTALL_DIR", "SOURCE_SUBDIR", "DOWNLOAD_NAME", "DOWNLOAD_EXTRACT_TIMESTAMP",
	"DOWNLOAD_NO_EXTRACT", "DOWNLOAD_NO_PROGRESS", "TIMEOUT", "INACTIVITY_TIMEOUT", "HTTP_USERNAME", "HTTP_PASSWORD",
	"HTTP_HEADER", "TLS_VERIFY", "TLS_CAINFO", "NETRC", "DOWNLOAD_COMMAND", "UPDATE_COMMAND", "PATCH_COMMAND",
	"CONFIGURE_COMMAND", "BUILD_COMMAND", "INSTALL_COMMAND", "TEST_COMMAND", "COMMAND", "CMAKE_ARGS", "CMAKE_CACHE_ARGS",
	"CMAKE_GENERATOR", "EXCLUDE_FROM_ALL", "DEPENDS", "BUILD_IN_SOURCE", "BUILD_ALWAYS", "BUILD_BYPRODUCTS",
	"UPDATE_DISCONNECTED", "OVERRIDE_FIND_PACKAGE", "FIND_PACKAGE_ARGS", "SYSTEM", "QUIET", "NAME", "VERSION",
	"GITHUB_REPOSITORY", "GITLAB_REPOSITORY", "BITBUCKET_REPOSITORY", "OPTIONS", "PATCHES", "DOWNLOAD_ONLY",
	"LOG_DOWNLOAD", "LOG_CONFIGURE", "LOG_BUILD", "LOG_INSTALL", "LOG_OUTPUT_ON_FAILURE", "STEP_TARGETS",
	"WORKING_DIRECTORY", "COMMENT", "VERBATIM", "OUTPUT", "OUTPUT_VARIABLE", "ERROR_VARIABLE", "RESULT_VARIABLE",
	"OUTPUT_STRIP_TRAILING_WHITESPACE", "BYPRODUCTS", "ALWAYS", "DEPENDEES", "DEPENDERS", "EXPECTED_HASH", "EXPECTED_MD5",
}

var cmakeWord = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range cmakeWords {
		m[w] = true
	}
	return m
}()

// An option is a word and the values up to the next one.
type cmakeOption struct {
	word   string
	line   int
	values []cmakeArg
}

// options cuts arguments at the words; what stands before the first word is an
// option without one.
func cmakeOptions(args []cmakeArg) []cmakeOption {
	list := []cmakeOption{{}}
	for _, a := range args {
		if !a.quoted && cmakeWord[a.text] {
			list = append(list, cmakeOption{word: a.text, line: a.line})
			continue
		}
		last := &list[len(list)-1]
		last.values = append(last.values, a)
	}
	return list
}

// first returns the first value of each option of these words, without
// repetition.
func first(options []cmakeOption, words ...string) []string {
	var list []string
	for _, o := range options {
		if slices.Contains(words, o.word) && len(o.values) > 0 && !slices.Contains(list, o.values[0].text) {
			list = append(list, o.values[0].text)
		}
	}
	return list
}

// at returns the i-th of list, the last one where there are fewer.
func at(list []string, i int) string {
	if len(list) == 0 {
		return ""
	}
	return list[min(i, len(list)-1)]
}
