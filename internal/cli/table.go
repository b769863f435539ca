// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Table prints rows in columns, two blanks apart, without trailing blanks.
type Table struct {
	Head []string
	Rows [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write prints the table; with color, words that are verdicts are coloured.
func (t *Table) Write(w io.Writer, color bool) error {
	rows := plain(t.Rows)
	if t.Head != nil {
		rows = append([][]string{t.Head}, rows...)
	}
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			shown := cell
			if color {
				shown = Paint(cell)
			}
			line.WriteString(shown)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// longest is how many characters of a cell that is no plain line are shown.
const longest = 1000

// plain makes cells inert that a terminal would act on, or that are more than a
// line: a cell may have come from anywhere.
func plain(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
		for j, cell := range row {
			if !utf8.ValidString(cell) || strings.ContainsFunc(cell, inert.Invisible) {
				out[i][j] = inert.Line(cell, longest)
			}
		}
	}
	return out
}

// Paint colours a word that is a verdict and returns others as they are.
func Paint(word string) string {
	code := ""
	switch verdict.Verdict(word) {
	case verdict.Pass:
		code = "32"
	case verdict.Fail, verdict.Conflict:
		code = "31"
	case verdict.Held, verdict.Infra:
		code = "33"
	case verdict.Skipped:
		code = "36"
	default:
		return word
	}
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}
