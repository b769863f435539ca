// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxFile is the largest pin file that is read, in bytes: locks with a thousand
// inputs stay far below it.
const maxFile = 4 << 20

// A decoder turns the nodes of one YAML file into values. It is stricter than
// the YAML library: unknown and repeated keys, anchors, tags, several documents
// and values of another kind are problems, all of which are reported, and text
// stays as it is written (version: 1.10 is not the number 1.1).
type decoder struct {
	file     string
	lines    map[string]int // path of a value -> its line
	problems Errors
}

func (d *decoder) problem(line int, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.file, max(line, 1), fmt.Sprintf(format, args...)})
}

// parse returns the root of the only document in data, or nil after a problem.
func (d *decoder) parse(data []byte) *yaml.Node {
	if !d.text(data) {
		return nil
	}
	root, line, text := parseYAML(data)
	if root == nil {
		d.problem(line, "%s", text)
	}
	return root
}

// text checks what the YAML library would let pass or explain badly.
func (d *decoder) text(data []byte) bool {
	if len(data) > maxFile {
		d.problem(1, "the file is larger than %d MiB; a pin file is small", maxFile>>20)
		return false
	}
	before := len(d.problems)
	begun := false
	for i, line := range bytes.Split(data, []byte("\n")) {
		trimmed := bytes.TrimSpace(line)
		marker := bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))
		switch {
		case !utf8.Valid(line):
			d.problem(i+1, "the line is not UTF-8")
		case bytes.HasPrefix(line, []byte("\ufeff")):
			d.problem(i+1, "the file begins with a byte order mark; save it without")
		case bytes.ContainsRune(line, '\r'):
			d.problem(i+1, "the line ends with a carriage return; save the file with plain newlines")
			return false // every line would say so
		case bytes.ContainsRune(line, '\t'):
			d.problem(i+1, "the line has a tab; use blanks")
		case marker && (len(trimmed) == 3 || line[3] == ' ') && (begun || line[0] == '.'):
			d.problem(i+1, "the file has more than one document; one file is one document")
		case bytes.HasPrefix(line, []byte("%")):
			d.problem(i+1, "YAML directives are not allowed")
		}
		begun = begun || len(trimmed) > 0 && trimmed[0] != '#'
	}
	return len(d.problems) == before
}

var yamlLineRE = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parseYAML returns the root node of data, or the line and text of what is
// wrong with it.
func parseYAML(data []byte) (root *yaml.Node, line int, text string) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		m := yamlLineRE.FindStringSubmatch(err.Error())
		if m == nil {
			return nil, 1, "not YAML: " + err.Error()
		}
		n, _ := strconv.Atoi(m[1])
		return nil, n, "not YAML: " + err.Error()[len(m[0]):]
	}
	if len(doc.Content) == 0 {
		return nil, 1, "the file is empty"
	}
	return doc.Content[0], 0, ""
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	rejectType   = reflect.TypeFor[Reject]()
)

// decode fills v from n; path is the name of the value in problems.
func (d *decoder) decode(n *yaml.Node, v reflect.Value, path string) {
	if path != "" {
		d.lines[path] = n.Line
	}
	name := path
	if name == "" {
		name = "the file"
	}
	switch {
	case n.Kind == yaml.AliasNode:
		d.problem(n.Line, "%s: aliases (*) are not allowed; write the value out", name)
		return
	case n.Anchor != "":
		d.problem(n.Line, "%s: anchors (&) are not allowed; write the value out", name)
		return
	case n.Style&yaml.TaggedStyle != 0:
		d.problem(n.Line, "%s: tags (!) are not allowed", name)
		return
	}
	switch t := v.Type(); {
	case t == timeType:
		d.time(n, v, name)
	case t == durationType:
		if s, ok := d.scalar(n, name); ok {
			x, err := time.ParseDuration(s)
			switch {
			case err != nil || x < 0:
				d.problem(n.Line, "%s: %q is not a duration such as 24h", name, clip(s))
			case x == 0: // as if it were not there, which would surprise
				d.problem(n.Line, "%s: %q is no time at all; leave it out, or say how long, such as 24h", name, clip(s))
			}
			v.SetInt(int64(x))
		}
	case t == rejectType && n.Kind == yaml.ScalarNode:
		d.decode(n, v.FieldByName("ID"), path)
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.decode(n, v.Elem(), path)
	case t.Kind() == reflect.Struct:
		d.mapping(n, v, path, name)
	case t.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			d.problem(n.Line, "%s: want a list", name)
			return
		}
		v.Set(reflect.MakeSlice(t, len(n.Content), len(n.Content)))
		for i, c := range n.Content {
			d.decode(c, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case t.Kind() == reflect.String:
		if s, ok := d.scalar(n, name); ok {
			v.SetString(s)
		}
	case t.Kind() == reflect.Bool:
		if s, ok := d.scalar(n, name); ok {
			if s != "true" && s != "false" {
				d.problem(n.Line, "%s: want true or false, not %q", name, clip(s))
			}
			v.SetBool(s == "true")
		}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		if s, ok := d.scalar(n, name); ok {
			x, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				d.problem(n.Line, "%s: want a whole number, not %q", name, clip(s))
			}
			v.SetInt(x)
		}
	default:
		panic("pins: no way to decode " + t.String())
	}
}

// scalar returns the text of n exactly as it is written, whatever a YAML schema
// would make of it.
func (d *decoder) scalar(n *yaml.Node, name string) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		d.problem(n.Line, "%s: want one value, not a list or mapping", name)
		return "", false
	}
	if n.Tag == "!!null" {
		d.problem(n.Line, "%s: the value is empty; leave the key out or give one", name)
		return "", false
	}
	return n.Value, true
}

func (d *decoder) time(n *yaml.Node, v reflect.Value, name string) {
	s, ok := d.scalar(n, name)
	if !ok {
		return
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || !strings.HasSuffix(s, "Z") {
		d.problem(n.Line, "%s: %q is not a time in UTC such as 2026-11-02T20:36:20Z", name, clip(s))
		return
	}
	v.Set(reflect.ValueOf(t.UTC()))
}

// mapping fills a struct; its yaml tags are the keys.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path, name string) {
	if n.Kind != yaml.MappingNode {
		d.problem(n.Line, "%s: want a mapping", name)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 {
			d.problem(key.Line, "%s: a key is plain text, without anchors, aliases or tags", name)
			continue
		}
		if first, ok := seen[key.Value]; ok {
			d.problem(key.Line, "%s: the key %q is here twice, first in line %d", name, clip(key.Value), first)
			continue
		}
		seen[key.Value] = key.Line
		field, ok := fieldByKey(v, key.Value)
		if !ok {
			d.problem(key.Line, "%s: unknown key %q", name, clip(key.Value))
			continue
		}
		child := key.Value
		if path != "" {
			child = path + "." + key.Value
		}
		d.decode(value, field, child)
		d.lines[child] = key.Line
	}
}

func fieldByKey(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if tag := v.Type().Field(i).Tag.Get("yaml"); tag != "" && tag == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// clip shortens what a problem quotes.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
