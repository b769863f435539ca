// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// A Problem is one thing that is wrong with a pin file.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Errors is everything that is wrong with a folder of pins, by file and line.
type Errors []Problem

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns e in the order of files and lines, or nil as an error if
// there is none.
func (e Errors) sorted() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortFunc(e, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return e
}

// lineOf returns the line of the value at path, or of the nearest one around it.
func lineOf(lines map[string]int, path string) int {
	for path != "" {
		if n, ok := lines[path]; ok {
			return n
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			break
		}
		path = path[:i]
	}
	return 1
}

var (
	yamlLine  = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line ([0-9]+): `)
	yamlField = regexp.MustCompile(`^field (.+) not found in type .*$`)
	yamlShape = regexp.MustCompile("^cannot unmarshal .*$")
)

// YAMLErrors is what the YAML library found wrong with a file of ours that is
// read into a type with known fields, in words that do not name the type.
func YAMLErrors(file string, err error) Errors {
	texts := []string{err.Error()}
	var many *yaml.TypeError
	if errors.As(err, &many) {
		texts = many.Errors
	}
	var list Errors
	for _, text := range texts {
		line := 1
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = text[len(m[0]):]
		}
		text = yamlField.ReplaceAllString(strings.TrimPrefix(text, "yaml: "), `unknown key "$1"`)
		text = yamlShape.ReplaceAllString(text, "another kind of value belongs here")
		list = append(list, Problem{File: file, Line: max(line, 1), Text: inert.Line(text, 200)})
	}
	return list
}
