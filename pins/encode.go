// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

var plainRE = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./:@+=~-]*$`)

// quote writes a text so that every YAML reader takes it as that text.
func quote(s string) string {
	if plainRE.MatchString(s) && !strings.HasSuffix(s, ":") {
		var n yaml.Node
		if yaml.Unmarshal([]byte(s), &n) == nil && len(n.Content) == 1 && n.Content[0].Tag == "!!str" {
			return s
		}
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '\'' }) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, "\\U%08x", r)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// scalarText writes a value that is neither a list nor a mapping; ok is false
// for those.
func scalarText(v reflect.Value) (s string, ok bool) {
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339), true
	case Day:
		return string(x), true
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String()), true
	case reflect.Int64, reflect.Int, reflect.Bool:
		return fmt.Sprint(v.Interface()), true
	}
	return "", false
}

// required are the keys that are written though they are zero: a size of 0 is
// an answer.
func required(f reflect.StructField) bool {
	return f.Tag.Get("yaml") == "size" && !strings.Contains(f.Tag.Get("json"), "omitempty")
}

// flow writes a struct that has only scalars on one line; ok is false for
// others.
func flow(v reflect.Value) (s string, ok bool) {
	var parts []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if v.Field(i).IsZero() && !required(f) {
			continue
		}
		s, ok := scalarText(v.Field(i))
		if !ok {
			return "", false
		}
		parts = append(parts, f.Tag.Get("yaml")+": "+s)
	}
	return "{" + strings.Join(parts, ", ") + "}", true
}

// An entry is one key of a struct as lines of YAML.
type entry struct {
	key  string
	text string
}

// entries writes the fields of a struct that are not zero: scalars and structs
// of scalars on one line, lists with one line an element.
func entries(v reflect.Value, indent string) []entry {
	var out []entry
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		key := f.Tag.Get("yaml")
		if key == "" || x.IsZero() && !required(f) || x.Kind() == reflect.Slice && x.Len() == 0 {
			continue
		}
		if x.Kind() == reflect.Pointer {
			x = x.Elem()
		}
		head := indent + key + ":"
		if s, ok := scalarText(x); ok {
			out = append(out, entry{key, head + " " + s + "\n"})
			continue
		}
		if x.Kind() == reflect.Struct {
			if s, ok := flow(x); ok {
				out = append(out, entry{key, head + " " + s + "\n"})
				continue
			}
			text := head + "\n"
			for _, e := range entries(x, indent+"  ") {
				text += e.text
			}
			out = append(out, entry{key, text})
			continue
		}
		var b strings.Builder
		b.WriteString(head + "\n")
		for j := range x.Len() {
			s, ok := flow(x.Index(j))
			if !ok {
				panic("pins: a list of " + x.Type().Elem().String() + " cannot be written")
			}
			b.WriteString(indent + "  - " + s + "\n")
		}
		out = append(out, entry{key, b.String()})
	}
	return out
}
