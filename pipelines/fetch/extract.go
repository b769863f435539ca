// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// longestValue bounds a version, in bytes.
const longestValue = 200

// extract returns the value of a key in a file, whose name says how it is
// written: .zon, .toml, .json, .yaml or .yml; everything else is plain text, in
// which the key stands at the begin of a line before "=" or ":", or is "." for
// the whole text. Names in the key have dots between them.
func extract(name string, text []byte, key string) (string, error) {
	var value string
	var err error
	switch path.Ext(name) {
	case ".json":
		value, err = fromJSON(text, key)
	case ".yaml", ".yml":
		value, err = fromYAML(text, key)
	case ".toml":
		value, err = fromTOML(string(text), key)
	case ".zon":
		value, err = fromZON(string(text), key)
	default:
		value, err = fromPlain(string(text), key)
	}
	if err != nil {
		return "", err
	}
	if value == "" || len(value) > longestValue || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r == 0x7f }) || value[0] == '-' {
		return "", fmt.Errorf("the value of %s is %s, which is no version", quoted(key), quoted(value))
	}
	return value, nil
}

func noKey(key string) error {
	return fmt.Errorf("there is no %s: look what it is called now and change track.key", quoted(key))
}

func fromJSON(text []byte, key string) (string, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a run's number is longer than a float is exact
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("it is no JSON: %w", err)
	}
	for name := range strings.SplitSeq(key, ".") {
		m, _ := v.(map[string]any)
		var ok bool
		if v, ok = m[name]; !ok {
			return "", noKey(key)
		}
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	return "", fmt.Errorf("%s is neither a text nor a number", quoted(key))
}

func fromYAML(text []byte, key string) (string, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return "", fmt.Errorf("it is no YAML: %w", err)
	}
	n := &root
	if len(n.Content) == 1 {
		n = n.Content[0]
	}
	for name := range strings.SplitSeq(key, ".") {
		var next *yaml.Node
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				next = n.Content[i+1]
			}
		}
		if next == nil {
			return "", noKey(key)
		}
		n = next
	}
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("%s is neither a text nor a number", quoted(key))
	}
	return n.Value, nil
}

// tomlLine is a table's head, or a key with a string or number on one line.
var tomlLine = regexp.MustCompile(`^\s*(?:\[([^\[\]]+)\]|([A-Za-z0-9_."'-]+)\s*=\s*(?:"([^"\\]*)"|'([^']*)'|([0-9][0-9A-Za-z_.:+-]*)))\s*(?:#.*)?$`)

// fromTOML knows what files that name a version have: tables, and keys with one
// value on one line. Inline tables and texts of many lines are passed over.
func fromTOML(text, key string) (string, error) {
	table := ""
	for line := range strings.Lines(text) {
		m := tomlLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			if strings.HasPrefix(strings.TrimSpace(line), "[") {
				table = "\x00" // an array of tables: no key leads into it
			}
			continue
		}
		if m[1] != "" {
			table = strings.ReplaceAll(strings.TrimSpace(m[1]), " ", "") + "."
			continue
		}
		if table+strings.Trim(m[2], `"'`) == key {
			return m[3] + m[4] + m[5], nil
		}
	}
	return "", noKey(key)
}

// zonToken is what a Zig object is made of, as far as it matters here.
var zonToken = regexp.MustCompile(`//[^\n]*|"(?:[^"\\\n]|\\.)*"|\.@?"?([A-Za-z_][A-Za-z0-9_-]*)"?\s*=|[{}]`)

// fromZON reads a string below nested names: .a = .{ .b = "value" }.
func fromZON(text, key string) (string, error) {
	var names []string // one for each open brace, after the first
	last, depth := "", 0
	for _, m := range zonToken.FindAllStringSubmatch(text, -1) {
		switch {
		case strings.HasPrefix(m[0], "//"):
		case m[1] != "":
			last = m[1]
		case m[0] == "{":
			if depth++; depth > 1 {
				names = append(names, last)
			}
			last = ""
		case m[0] == "}":
			if depth--; len(names) > 0 {
				names = names[:len(names)-1]
			}
			last = ""
		case last != "":
			if strings.Join(append(names[:len(names):len(names)], last), ".") == key {
				return strings.Trim(m[0], `"`), nil
			}
			last = ""
		}
	}
	return "", noKey(key)
}

func fromPlain(text, key string) (string, error) {
	if key == "." {
		return strings.TrimSpace(text), nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		rest, ok := strings.CutPrefix(line, key)
		if !ok {
			continue
		}
		rest = strings.TrimSpace(rest)
		if rest == "" || rest[0] != '=' && rest[0] != ':' {
			continue
		}
		value := strings.TrimSpace(strings.TrimPrefix(rest[1:], "="))
		return strings.Trim(value, `"'`), nil
	}
	return "", noKey(key)
}
