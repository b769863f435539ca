// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// showRows shows what became of many things, as JSON or by print, and returns
// the error that sets the exit code of the worst verdict.
func showRows[R any](env *cli.Env, rows []R, print func(*cli.Env, []R) error, of func(R) verdict.Verdict) error {
	show := print
	if env.JSON {
		show = func(env *cli.Env, rows []R) error { return env.PrintJSON(rows) }
	}
	if err := show(env, rows); err != nil {
		return err
	}
	return cli.Done(fetch.WorstOf(rows, of))
}

// notePin tells what is behind a pin's verdict, below the table.
func notePin(env *cli.Env, name, why string, notes ...string) {
	if why != "" {
		env.Notef("dist: pin %s: %s", name, why)
	}
	for _, note := range notes {
		env.Notef("dist: pin %s: %s", name, note)
	}
}

// orDash is a cell of a table; an empty one would move the next to its place
// for whoever reads by words.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// yesNo is a cell of a table that says whether.
func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// megabytes shows a number of bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// count returns "1 file" or "2 files".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
