// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"fmt"
	"strings"
)

// An ID names a git object: 40 lower-case hex digits. The empty ID means
// "none" where a comment says so. Make one of untrusted text with ParseID.
type ID string

// zeroID is how git itself writes "no object".
const zeroID = "0000000000000000000000000000000000000000"

// EmptyTree is the tree without entries. It need not be in the object store
// for git to know it.
const EmptyTree ID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// ParseID accepts exactly 40 lower-case hex digits that are not all zero.
// Abbreviations, names and SHA-256 ids are errors.
func ParseID(s string) (ID, error) {
	switch {
	case len(s) == 64 && isHex(s):
		return "", &ObjectFormat{Where: "the id " + s, Format: "sha256"}
	case len(s) != 40 || !isHex(s):
		return "", fmt.Errorf("%s is not an object id: 40 lower-case hex digits are needed", inertQuote(s))
	case s == zeroID:
		return "", fmt.Errorf("the id of zeros names no object")
	}
	return ID(s), nil
}

// Short returns the first 12 digits, for people.
func (id ID) Short() string {
	if len(id) < 12 {
		return string(id)
	}
	return string(id[:12])
}

func (id ID) orZero() string {
	if id == "" {
		return zeroID
	}
	return string(id)
}

// check is what every method does with ids before they reach an argument.
func check(ids ...ID) error {
	for _, id := range ids {
		if _, err := ParseID(string(id)); err != nil {
			return err
		}
	}
	return nil
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}
