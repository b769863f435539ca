// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"fmt"
	"strings"
	"testing"
)

// said is the identifiers of a source, those that are whole strings in quotes.
func said(words []word) string {
	var out []string
	for _, w := range words {
		if w.quoted {
			out = append(out, fmt.Sprintf("%q:%d", w.name, w.line))
		} else {
			out = append(out, fmt.Sprintf("%s:%d", w.name, w.line))
		}
	}
	return strings.Join(out, " ")
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ name, file, src, want string }{
		{"code", "a.c", "int f(x);", "int:1 f:1 x:1"},
		{"comments", "a.h", "a /* f\ng */ b // h\nc", "a:1 b:2 c:3"},
		{"a comment that goes on", "a.h", "// a \\\nb\nc", "c:3"},
		{"a comment that does not end", "a.h", "a /* b", "a:1"},
		{"strings", "a.cc", `a("f g", "h", L"i", u8"j k") b`, `a:1 "h":1 "i":1 b:1`},
		{"an escaped quote", "a.c", `a("x \" y") b`, "a:1 b:1"},
		{"a string that does not end", "a.c", "a \"b\nc", "a:1 c:2"},
		{"raw strings", "a.cpp", "a(R\"x(b )\" c)x\") d(u8R\"(e\nf)\") g", "a:1 d:1 g:2"},
		{"characters", "a.c", `a('"', '\'', 'b', 'abcd') c "d e"`, "a:1 c:1"},
		{"an apostrophe", "a.c", "#if 0\ndon't\n#endif\nb", "b:4"},
		{"numbers", "a.cpp", "1'000'000 a 0x1fU b 1.5e3f c", "a:1 b:1 c:1"},
		{"include", "a.c", "#include <loomc/loomc_base.h>\n#include \"loomc_x\"\na", "a:3"},
		{"asked for", "a.c", "#ifdef A\n#if defined(B) && \\\n  C\n#undef D\n#error E is not\n#endif\nf", "f:7"},
		{"define", "a.h", "#define A(x) \\\n b\n# define C", "A:1 x:1 b:2 C:3"},
		{"if 0", "a.h", "#if 0\na\n#if X\nb\n#else\nc\n#endif\n#else\nd\n#endif\ne", "d:9 e:11"},
		{"if 1", "a.h", "#if 1\na\n#elif X\nb\n#else\nc\n#endif\nd", "a:2 d:8"},
		{"if (0), elif", "a.h", "#if (0) // old\na\n#elif X\nb\n#endif\nc", "b:4 c:6"},
		{"both branches of a condition", "a.h", "#ifdef X\na\n#else\nb\n#endif", "a:2 b:4"},
		{"other letters", "a.c", "loomc_é loomc_", "loomc_é:1 loomc_:1"},
		{"carriage returns", "a.c", "a\r\n// b \\\r\nc\r\nd", "a:1 d:4"},
		{"a template", "a.h.in", "a // b", "a:1"},
		{"javascript", "a.js", "a(`b ${c}\n d`) e", "a:1 e:2"},
		{"go", "a.go", "package p\n\n// f\nvar a = `b\nc` + \"d\" + 'e' /* g */ + h", `p:1 a:4 "d":5 h:5`},
		{"rust", "a.rs", "fn a<'b>(c: &'b str) { d('e', r#\"f \" g\"#, b\"h i\"); /* j */ }", "fn:1 a:1 b:1 c:1 b:1 str:1 d:1"},
		{"python", "a.py", "import a # b\n'''c\nd''' + \"e\" + f", `import:1 a:1 "e":3 f:3`},
	} {
		scan := scannerOf(c.file)
		if scan == nil {
			t.Errorf("%s: nothing reads %s", c.name, c.file)
			continue
		}
		got := said(scan(c.src))
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	for _, file := range []string{"README.md", "CMakeLists.txt", "notes", "x.rst", "a.json"} {
		if scannerOf(file) != nil {
			t.Errorf("%s is read as code", file)
		}
	}
}

// Whatever an upstream writes, the scanners come to an end, inside the text.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"#if 0\n'\"/*", "R\"(", "r###\"", "\\", "'\\", "#", "`", "1'", "\"\"\"", "/*\\\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, name := range []string{"a.c", "a.rs", "a.go", "a.py"} {
			lines := strings.Count(src, "\n") + 1
			for _, w := range scannerOf(name)(src) {
				if w.line < 1 || w.line > lines || w.name == "" {
					t.Errorf("%s: %+v of %d lines", name, w, lines)
				}
			}
		}
	})
}
