// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"os"
	"testing"
)

// What Parse accepts can be written, and what was written reads the same.
func FuzzParse(f *testing.F) {
	golden, err := os.ReadFile("testdata/golden.patch")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add([]byte(mailLine + "\nFrom: A <a@b>\nDate: Thu, 1 Oct 2026 12:00:00 +0000\nSubject: s\n\n>>>---\n---\n 1 file changed\n\ndiff --git \"a/\\303\\274\" \"b/\\303\\274\"\nold mode 100644\nnew mode 100755\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("x.patch", data)
		if err != nil {
			if p, ok := err.(Problems); !ok || len(p) != 1 || p[0].Line < 1 {
				t.Fatalf("an error without a line: %v", err)
			}
			return
		}
		text := Render(p)
		again, err := Parse("x.patch", text)
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%q", err, text)
		}
		if !bytes.Equal(Render(again), text) {
			t.Fatalf("other bytes:\n%q\n%q", text, Render(again))
		}
	})
}

// A series is kept to the byte.
func FuzzSeries(f *testing.F) {
	f.Add("# c\n\n# base: 1234567890123456789012345678901234567890\na.patch # b\n\nb.patch\n# e\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, problems := ParseSeries("series", []byte(text))
		if len(problems) > 0 {
			return
		}
		again, problems := ParseSeries("series", s.Format())
		if len(problems) > 0 || !bytes.Equal(again.Format(), s.Format()) || again.Base != s.Base {
			t.Fatalf("%q\n%q\n%v", s.Format(), again.Format(), problems)
		}
	})
}
