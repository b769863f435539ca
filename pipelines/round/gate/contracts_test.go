// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// pair is a backend and the library whose public symbols it uses.
const pair = `- name: pair
  members: [backend, library]
  split: allowed
  contracts:
    - user: {pin: backend, files: ['src/**/*.c', 'src/*.h'], pattern: '(lib_|LIB_)[A-Za-z0-9_]+'}
      provider: {pin: library, files: ['include/**']}
`

const (
	uses = `#include <lib_headers.h>
// lib_in_a_comment() is no use
void f(void) { lib_open(LIB_FAST); my_lib_helper(); puts("lib_format %d"); dlsym(h, "lib_late"); }
#ifdef LIB_NEWER
#endif
`
	declares = `/* the library */
#define LIB_FAST 1
int lib_open(int how);
int lib_late(void);
`
)

// TestContracts carries the report of the reference engine, October 2026: the
// half of a pair that drops symbols which the other half uses was merged. Its
// own check looked for text, so a name that another one begins with passed.
func TestContracts(t *testing.T) {
	for _, c := range []struct {
		name          string
		user, library gittest.Files
		want          verdict.Verdict
		text          string
		details       []string
	}{
		{name: "all there", library: gittest.Files{"include/a.h": declares + "int lib_more(void);\n"}, want: verdict.Pass},
		{
			name:    "a symbol is gone",
			library: gittest.Files{"include/a.h": "#define LIB_FAST 1\nint lib_late(void);\n"},
			want:    verdict.Fail, text: "backend uses what library does not declare: lib_open",
			details: []string{"lib_open of library, used by backend at src/deep/a.c:3\n"},
		},
		{
			name:    "its name begins another one",
			library: gittest.Files{"include/a.h": "#define LIB_FAST 1\nint lib_open_v2(int), xlib_open(int);\nint lib_late(void);\n"},
			want:    verdict.Fail, text: "declare: lib_open",
		},
		{
			name:    "only spoken of",
			library: gittest.Files{"include/a.h": "#define LIB_FAST 1\nint lib_late(void);\n/* int lib_open(int) is gone */\n// lib_open\n#if 0\nint lib_open(int);\n#endif\n#error \"no lib_open\"\n#undef lib_open\n[[deprecated(\"lib_open\")]] int g;\n", "include/README.md": "lib_open\n"},
			want:    verdict.Fail, text: "declare: lib_open",
		},
		{
			name:    "declared where nobody looks",
			library: gittest.Files{"include/a.h": "#define LIB_FAST 1\nint lib_late(void);\n", "src/b.h": "int lib_open(int);\n"},
			want:    verdict.Fail, text: "declare: lib_open",
		},
		{
			name:    "looked up by its name",
			library: gittest.Files{"include/a.h": "#define LIB_FAST 1\nint lib_open(int);\n"},
			want:    verdict.Fail, text: "declare: lib_late",
		},
		{
			name: "a new use",
			user: gittest.Files{"src/deep/b.c": "int g(void) {\n\treturn lib_new();\n}\n", "src/c.h": "#define G lib_new()\n", "other/d.c": "lib_nowhere();\n"},
			want: verdict.Fail, text: "declare: lib_new",
			details: []string{"src/c.h:1, src/deep/b.c:2"},
		},
		{
			name: "nothing left that could be used",
			user: gittest.Files{"src/deep/a.c": "int main(void) { return 0; }\n"},
			want: verdict.Fail, text: "so the contract holds nothing",
		},
		{
			name:    "the headers went elsewhere",
			library: gittest.Files{"include/a.h": "", "public/a.h": declares},
			want:    verdict.Fail, text: "declare: LIB_FAST, lib_late, lib_open",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, pair, "backend", "library")
			w.upstream["backend"].Commit("main", "one", gittest.Files{"src/deep/a.c": uses})
			w.upstream["library"].Commit("main", "one", gittest.Files{"include/a.h": declares})
			w.update("backend")
			w.commit()
			w.upstream["backend"].Commit("main", "two", c.user)
			w.upstream["library"].Commit("main", "two", c.library)
			w.update("backend")
			r := w.gate("contracts", offline(w.subject()))
			w.wants(c.name, r, c.want, false, c.text)
			w.details(c.name, r, c.details...)
		})
	}
}

func TestContractsSayWhatMainLacksToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pair, "backend", "library")
	w.upstream["backend"].Commit("main", "one", gittest.Files{"src/a.h": "lib_a(); lib_b(); lib_c();"})
	w.upstream["library"].Commit("main", "one", gittest.Files{"include/a.h": "int lib_a, lib_b;"})
	w.update("backend")
	w.commit()
	w.upstream["library"].Commit("main", "two", gittest.Files{"include/a.h": "int lib_a;"})
	w.update("backend")
	r := w.gate("contracts", w.subject())
	w.wants("both", r, verdict.Fail, false, "declare: lib_b, lib_c")
	w.details("both", r, "lib_b of library, used by backend at src/a.h:1\n", "lib_c of library, used by backend at src/a.h:1 (missing on main already)")

	// The store has been emptied of what main has.
	s := offline(w.subject())
	s.BaseDir = t.TempDir()
	s.Base.Pin("library").Lock.Sum = "t1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	r = w.gate("contracts", s)
	w.wants("main is not here", r, verdict.Fail, false, "declare: lib_b, lib_c")
	w.details("main is not here", r, "is not known here")
}

// With a patch of ours that uses the new name, the pair fits.
func TestContractsReadPatchedSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pair, "library")
	backend := w.follow("backend", "stack: backend\n")
	backend.Commit("main", "one", gittest.Files{"src/a.c": "lib_old();\n"})
	w.upstream["library"].Commit("main", "one", gittest.Files{"include/a.h": "int lib_old, lib_new;\n"})
	w.update("library")
	w.patch("backend", gittest.Files{"src/a.c": "lib_new();\n"})
	w.commit()
	w.upstream["library"].Commit("main", "two", gittest.Files{"include/a.h": "int lib_new;\n"})
	w.update("library")
	w.wants("with the patch", w.gate("contracts", offline(w.subject())), verdict.Pass, false)
	w.upstream["library"].Commit("main", "three", gittest.Files{"include/a.h": "int lib_old;\n"})
	w.update("library")
	w.wants("the patch's name", w.gate("contracts", offline(w.subject())), verdict.Fail, false, "declare: lib_new")
}

func TestNoContracts(t *testing.T) {
	w := bumped(t)
	w.wants("alone", w.gate("contracts", w.subject()), verdict.Pass, false)
}
