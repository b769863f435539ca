// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A text is a pin file that is edited in place: the lines of one key at a time
// are replaced, and all others stay as they are, byte for byte.
type text struct {
	lines []string // with their newlines
	root  *yaml.Node
	pin   *Pin
}

// parseText reads a pin file that is to be edited; it must be well formed, but
// its values may be wrong.
func parseText(file []byte) (*text, error) {
	d := &decoder{file: "pin file", lines: map[string]int{}}
	root := d.parse(file)
	if root == nil {
		return nil, d.problems.sorted()
	}
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, fmt.Errorf("the pin file must have one key a line, not one mapping in braces")
	}
	t := &text{root: root, pin: &Pin{file: d.file, lines: d.lines}}
	d.decode(root, reflect.ValueOf(t.pin).Elem(), "")
	if err := d.problems.sorted(); err != nil {
		return nil, err
	}
	for _, key := range t.keys() {
		if key.Column != 1 {
			return nil, fmt.Errorf("line %d: the keys of a pin file must not be indented", key.Line)
		}
	}
	s := string(file)
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	t.lines = strings.SplitAfter(s, "\n")
	t.lines = t.lines[:len(t.lines)-1]
	return t, nil
}

func (t *text) keys() []*yaml.Node {
	var keys []*yaml.Node
	for i := 0; i < len(t.root.Content); i += 2 {
		keys = append(keys, t.root.Content[i])
	}
	return keys
}

// find returns the lines of a key, [start, end), without the blank lines and
// comments at the margin that follow them; ok is false if there is no such key.
func (t *text) find(key string) (start, end int, value *yaml.Node, ok bool) {
	end = len(t.lines)
	for i := 0; i < len(t.root.Content); i += 2 {
		k := t.root.Content[i]
		if ok {
			end = k.Line - 1
			break
		}
		if k.Value == key {
			start, value, ok = k.Line-1, t.root.Content[i+1], true
		}
	}
	for ok && end > start+1 && (blank(t.lines[end-1]) || t.lines[end-1][0] == '#') {
		end--
	}
	return start, end, value, ok
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

func comment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// place returns the line before which a new key goes: the order is that of the
// fields of Pin, and comments stay with the key below them.
func (t *text) place(key string) int {
	order := keysOf(reflect.TypeFor[Pin]())
	at := slices.Index(order, key)
	for _, k := range t.keys() {
		if slices.Index(order, k.Value) > at {
			line := k.Line - 1
			for line > 0 && comment(t.lines[line-1]) {
				line--
			}
			return line
		}
	}
	return len(t.lines)
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// replace returns the file with the lines [start, end) replaced, after checking
// that it still reads as before in everything but key.
func (t *text) replace(key string, start, end int, with string) ([]byte, error) {
	lines := slices.Concat(t.lines[:start], []string{with}, t.lines[end:])
	file := []byte(strings.Join(lines, ""))
	after, err := parseText(file)
	if err != nil {
		return nil, fmt.Errorf("the edited pin file does not read: %w", err)
	}
	if !bytes.Equal(others(t.root, key), others(after.root, key)) {
		return nil, fmt.Errorf("the layout of the pin file around %s is too unusual to edit: write it with one key a line", key)
	}
	return file, nil
}

// others is the value of a file in all keys but one, as bytes to compare.
func others(root *yaml.Node, key string) []byte {
	var b bytes.Buffer
	for i := 0; i < len(root.Content); i += 2 {
		if root.Content[i].Value != key {
			flatten(&b, root.Content[i])
			flatten(&b, root.Content[i+1])
		}
	}
	return b.Bytes()
}

func flatten(b *bytes.Buffer, n *yaml.Node) {
	fmt.Fprintf(b, "%d %d %q %q\n", n.Kind, n.Style, n.Tag, n.Value)
	for _, c := range n.Content {
		flatten(b, c)
	}
	fmt.Fprintln(b, "end")
}
