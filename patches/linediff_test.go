// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func keep(lines []string, changed []bool) []string {
	var out []string
	for i, l := range lines {
		if !changed[i] {
			out = append(out, l)
		}
	}
	return out
}

// longestCommon is the textbook's table, to compare with.
func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

func TestDiffLinesIsShortest(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 3000 {
		letters := 1 + random.Intn(5)
		text := func() []string {
			lines := make([]string, random.Intn(14))
			for i := range lines {
				lines[i] = fmt.Sprintf("%c\n", 'a'+random.Intn(letters))
			}
			return lines
		}
		a, b := text(), text()
		gone, fresh := diffLines(a, b)
		left := keep(a, gone)
		if !slices.Equal(left, keep(b, fresh)) {
			t.Fatalf("%q to %q: what is left differs", a, b)
		}
		if want := longestCommon(a, b); len(left) != want {
			t.Fatalf("%q to %q: %d lines are left, %d could be", a, b, len(left), want)
		}
	}
}

// Texts beyond the limit must still come out right, and in a bounded time.
func TestDiffLinesFarApart(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	text := func() []string {
		lines := make([]string, 6_000)
		for i := range lines {
			lines[i] = fmt.Sprintf("%d\n", random.Intn(100))
		}
		return lines
	}
	a, b := text(), text()
	gone, fresh := diffLines(a, b)
	if left := keep(a, gone); !slices.Equal(left, keep(b, fresh)) || len(left) < 300 {
		t.Fatalf("%d lines are left, or they differ", len(left))
	}
}

func TestSlide(t *testing.T) {
	a := splitLines("a() {\n}\n\nc() {\n}\n")
	b := splitLines("a() {\n}\n\nb() {\n}\n\nc() {\n}\n")
	_, fresh := diffLines(a, b)
	var added []string
	for i, l := range b {
		if fresh[i] {
			added = append(added, l)
		}
	}
	if got := strings.Join(added, ""); got != "b() {\n}\n\n" {
		t.Errorf("added is %q", got)
	}
}
