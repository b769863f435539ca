// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// decodeStrict reads the one YAML document of a small file into v. An empty file
// is none and leaves v as it is. The error is one line, in a user's words.
func decodeStrict(data []byte, v any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	err := d.Decode(v)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return plainYAML(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one document in it: only the first would count")
	}
	return nil
}

var (
	unknownField = regexp.MustCompile(`field (.+) not found in type \S+`)
	otherShape   = regexp.MustCompile("cannot unmarshal (!!\\w+)(?: `.*`)? into (\\S+)")
)

func plainYAML(err error) error {
	var many *yaml.TypeError
	lines := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if errors.As(err, &many) {
		lines = many.Errors
	}
	for i, l := range lines {
		l = unknownField.ReplaceAllString(l, `unknown key "$1"`)
		l = otherShape.ReplaceAllStringFunc(l, func(s string) string {
			m := otherShape.FindStringSubmatch(s)
			return "a " + shapes[m[1]] + " cannot stand here"
		})
		lines[i] = strings.ReplaceAll(l, "\n", " ")
	}
	return errors.New(strings.Join(lines, "; "))
}

var shapes = map[string]string{"!!seq": "list", "!!map": "mapping", "!!str": "text", "!!int": "number", "!!bool": "yes or no", "!!float": "number", "!!null": "nothing"}
