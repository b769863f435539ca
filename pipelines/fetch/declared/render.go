// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// Header is the first row of a table of Rows.
var Header = []string{"WHERE", "SCOPE", "KIND", "COMMAND", "NAME", "ADDRESS", "VERSION"}

// Row is a download as inert cells under Header.
func (d Declared) Row() []string {
	name := inert.Line(d.Name, 60)
	if d.Count > 0 {
		name += fmt.Sprintf(" (%d packages)", d.Count)
	}
	address := inert.Line(d.URL, 200)
	if d.Problem != "" {
		address = inert.Line(cmp.Or(d.URL, "-"), 200) + " [" + inert.Line(d.Problem, 200) + "]"
	}
	return []string{
		fmt.Sprintf("%s:%d", inert.Line(d.File, 200), d.Line), string(d.Scope), string(d.Kind), cmp.Or(inert.Line(d.Command, 60), "-"),
		cmp.Or(name, "-"), cmp.Or(address, "-"), cmp.Or(inert.Line(d.Rev, 60), inert.Line(d.Hash, 80), "-"),
	}
}

// WriteText writes a line for each download, red ones marked, then a count.
func WriteText(w io.Writer, list []Declared) error {
	red := 0
	for _, d := range list {
		mark := " "
		if d.Red() {
			mark = "!"
			red++
		}
		r := d.Row()
		if _, err := fmt.Fprintf(w, "%s %s\n", mark, strings.Join(r, "  ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d downloads are declared, %d of them where a build may reach them (!)\n", len(list), red)
	return err
}

// WriteJSON writes the downloads as a JSON array.
func WriteJSON(w io.Writer, list []Declared) error {
	if list == nil {
		list = []Declared{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(list)
}
