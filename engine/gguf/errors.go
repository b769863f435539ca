// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"fmt"
	"strconv"
)

// A Kind says in which way a file is not a GGUF file that can be read.
type Kind int

// The kinds of errors.
const (
	NotGGUF     Kind = iota + 1 // the file does not begin with "GGUF"
	Truncated                   // the file ends before what it promises
	BigEndian                   // written for a big-endian machine
	Unsupported                 // a version of the format other than 2 and 3
	Malformed                   // a value that can not be, such as an unknown type
	TooLarge                    // a count or length above a limit
	BrokenSplit                 // the files of a split model do not fit together
)

// An Error says what is wrong with a file and where.
type Error struct {
	Kind   Kind
	Path   string // empty for ReadFrom
	Offset int64  // in bytes from the start of the file, where it was noticed
	Text   string // a clause such as "the file ends inside a key"
}

func (e *Error) Error() string {
	where := ""
	if e.Kind != NotGGUF && e.Kind != BrokenSplit {
		where = fmt.Sprintf(" (at byte %d)", e.Offset)
	}
	if e.Path == "" {
		return e.Text + where
	}
	return fmt.Sprintf("%s: %s%s", e.Path, e.Text, where)
}

// quotedLimit bounds a name in a message: in a file it may have a mebibyte.
const quotedLimit = 100 // bytes

// quoted returns a name from a file, which may hold anything, as one can print
// it.
func quoted(name string) string {
	if len(name) > quotedLimit {
		return strconv.Quote(name[:quotedLimit]) + "…"
	}
	return strconv.Quote(name)
}
