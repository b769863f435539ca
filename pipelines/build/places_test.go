// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/parts"
)

// Every program and library that a recipe makes is looked at, whatever its
// name and folder.
func TestOutputsAreNotTiedToTheirBuild(t *testing.T) {
	parts.Need(t, "gcc")
	const program = "#include <assert.h>\\nint main(int n, char **v) { (void)v; assert(n < 100); return 0; }\\n"
	compile := func(args string) string {
		return "printf '" + program + "' > a.c; mkdir -p /out/out/deep; gcc " + args + " -o /out/out/deep/x.bin $PWD/a.c"
	}
	const mapped = "-ffile-prefix-map=/build/=/ "
	for _, c := range []struct {
		name, script string
		want         []string // none: it is clean
	}{
		{"clean", compile("-g " + mapped + "'-Wl,-rpath,$ORIGIN/../lib' -Wl,--enable-new-dtags"), nil},
		{"an address that looks like a path", compile(mapped + `-include /build/url.h`), nil},
		{"a RUNPATH", compile(mapped + "-Wl,-rpath,/opt/lib -Wl,--enable-new-dtags"), []string{"out/deep/x.bin: RUNPATH: /opt/lib"}},
		{"an RPATH", compile(mapped + "'-Wl,-rpath,$ORIGIN' -Wl,--disable-new-dtags"), []string{"out/deep/x.bin: RPATH: $ORIGIN"}},
		{"a path of the build", compile(""), []string{"out/deep/x.bin: build path in .rodata: /build/a.c"}},
		{"a path of the sources", compile(mapped + `-DNDEBUG -include /src/demo/a.h`), []string{"/src/demo/a.h"}},
		{"no ELF file", "mkdir /out/out; echo /build/x > /out/out/x", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := sh("url", `echo 'const char *url = "https://example.org/build/x", *other = "GET /build";' > url.h`)
			b := newBench(t, testRecipe("demo", url, sh("compile", c.script)))
			if err := os.WriteFile(filepath.Join(b.source, "a.h"), []byte("const char *file = __FILE__;\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := b.one(t.Context(), b.planned(t, "demo"), nil)
			if len(c.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var tied *Tied
			if !errors.As(err, &tied) || tied.Component != "demo" {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if all, err := b.Store.List(); err != nil || len(all) > 0 {
				t.Errorf("the store has %v (%v)", all, err)
			}
		})
	}
}

// A path of the machine is found though no fixed path is there; without a
// sandbox only search paths count.
func TestOutputsNameNoFolderOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("\x7fELF /cache/store/tmp/w1/a.c \x00 /build/a.c"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := &PlannedComponent{Name: "demo", Recipe: testRecipe("demo"), Inputs: &Inputs{}}
	var tied *Tied
	if err := checkPlaces(c, dir, []string{"/cache/store/"}); !errors.As(err, &tied) || len(tied.Findings) != 3 {
		t.Errorf("got %v", err) // broken, and two paths
	}
	c.Inputs.Space = NoSandbox
	if err := checkPlaces(c, dir, []string{"/cache/store/"}); !errors.As(err, &tied) || len(tied.Findings) != 1 {
		t.Errorf("without a sandbox: %v", err)
	}
}
