// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A file that says which downloads are not needed may change every day. Only
// what it declares anew asks a person again.
func TestUnusedInputsFollowTheirFiles(t *testing.T) {
	t.Parallel()
	const download = "project(a)\nfile(DOWNLOAD https://dl.example/x.bin x.bin)\n"
	for _, c := range []struct {
		name, now string
		want      verdict.Verdict
		text      string // in the note, or in the error
	}{
		{"other lines", "project(a)\nset(X 1)\nfile(DOWNLOAD https://dl.example/x.bin x.bin)\n", verdict.Pass, "declares nothing new"},
		{"other place", "project(a)\nfile(DOWNLOAD https://dl.example/y.bin x.bin)\n", verdict.Fail, "see whether it is still unused"},
		{"one more", download + "file(DOWNLOAD https://dl.example/y.bin y.bin)\n", verdict.Fail, "see whether it is still unused"},
		{"nothing left", "project(a)\n", verdict.Pass, "declares no download any more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := gittest.New(t)
			up.Commit("main", "one", gittest.Files{"CMakeLists.txt": download, "LICENSE": "MIT\n"})
			w := newWorld(t)
			w.local("a", up)
			w.pin("a", followMain)
			lock := w.must("a")
			lock.Inputs = []pins.Input{{Name: "x", Kind: pins.InputUnused, DeclaredIn: "CMakeLists.txt", SHA256: sha(download), Why: "not built"}}
			if _, err := pins.Edit(w.pins, "a", func(file []byte) ([]byte, error) { return pins.WriteLock(file, *lock) }); err != nil {
				t.Fatal(err)
			}
			up.Commit("main", "two", gittest.Files{"CMakeLists.txt": c.now})
			r := w.resolve(nil, "a")
			lock, err := r.Lock(t.Context(), "a")
			said := strings.Join(r.Member("a").Notes, "\n")
			if err != nil {
				said = err.Error()
			}
			if verdict.Of(err) != c.want || !strings.Contains(said, c.text) {
				t.Fatalf("%s %q, want %s %q", verdict.Of(err), said, c.want, c.text)
			}
			switch c.name {
			case "other lines":
				if len(lock.Inputs) != 1 || lock.Inputs[0].SHA256 != sha(c.now) {
					t.Errorf("%+v", lock.Inputs)
				}
			case "nothing left":
				if len(lock.Inputs) != 0 {
					t.Errorf("%+v", lock.Inputs)
				}
			}
		})
	}
}
