// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// shownIn is how a file of a stack's folder is called in errors.
func shownIn(dir string, elem ...string) string {
	return path.Join(append([]string{Folder, filepath.Base(dir)}, elem...)...)
}

// readYAML reads a file below a stack's folder, which must be a regular one with
// one document of known fields. absent: there is no such file. What is wrong is
// Problems.
func readYAML(dir, name string, into any) (absent bool, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	shown := shownIn(dir, name)
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	data, why, err := readRegular(root, name)
	if err != nil {
		return false, err
	}
	if why != "" {
		return false, Problems{{shown, 1, why}}
	}
	return false, parseYAML(shown, data, into)
}

var (
	yamlLine = regexp.MustCompile(`^(?:yaml: )?line ([0-9]+): `)
	yamlType = regexp.MustCompile(` (in type|into) [A-Za-z.\[\]*]+$`)
)

// parseYAML reads one document with known fields; none is an empty one.
func parseYAML(shown string, data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	texts := []string{}
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) {
		texts = wrong.Errors
	} else if err != nil {
		texts = []string{err.Error()}
	} else if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		texts = []string{"there is more than one document in the file"}
	}
	var problems Problems
	for _, text := range texts {
		line := 1
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = text[len(m[0]):]
		}
		text = yamlType.ReplaceAllString(strings.TrimPrefix(text, "yaml: "), "")
		problems = append(problems, Problem{shown, max(line, 1), show(text)})
	}
	return problems.err()
}
