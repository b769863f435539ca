// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// program writes a program that counts its runs in a file beside it.
func program(t testing.TB, dir, name, version string) {
	t.Helper()
	file := filepath.Join(dir, name)
	text := fmt.Sprintf("#!/bin/sh\necho run >>%s.runs\necho '%s'\n", file, version)
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	rested := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, rested, rested); err != nil {
		t.Fatal(err)
	}
}

func runs(dir, name string) int {
	data, _ := os.ReadFile(filepath.Join(dir, name+".runs"))
	return strings.Count(string(data), "run")
}

func TestHostTools(t *testing.T) {
	bin, memory := t.TempDir(), filepath.Join(t.TempDir(), "state", "tools.json")
	search := bin + ":/usr/bin:/bin"
	program(t, bin, "gcc-12", "gcc 12.2.0")
	program(t, bin, "cmake", "cmake version 3.25.1")
	if err := os.Symlink("gcc-12", filepath.Join(bin, "gcc")); err != nil {
		t.Fatal(err)
	}
	digest := func(needs ...string) string {
		t.Helper()
		d, missing, err := HostTools(t.Context(), memory, search, needs)
		if err != nil || len(missing) > 0 || !strings.HasPrefix(d, "in:") {
			t.Fatalf("%s, %v, %v", d, missing, err)
		}
		return d
	}
	first := digest("gcc", "cmake")
	if again := digest("cmake", "gcc", "gcc"); again != first {
		t.Errorf("in another order %s, was %s", again, first)
	}
	if n := runs(bin, "cmake"); n != 1 {
		t.Errorf("cmake was asked %d times", n)
	}
	if fewer := digest("cmake"); fewer == first {
		t.Error("fewer programs have the same digest")
	}
	program(t, bin, "cmake", "cmake version 3.25.2")
	newer := digest("gcc", "cmake")
	if newer == first || runs(bin, "cmake") != 2 {
		t.Errorf("another cmake has the digest %s, was %s; asked %d times", newer, first, runs(bin, "cmake"))
	}
	// Another program under the same size and mtime has another inode or ctime.
	program(t, bin, "cmake", "cmake version 3.25.3")
	if third := digest("gcc", "cmake"); third == newer {
		t.Error("a program that was replaced is taken for the old one")
	}
	program(t, bin, "cmake", "cmake version 3.25.1")
	if back := digest("gcc", "cmake"); back != first {
		t.Errorf("the first cmake again has the digest %s, was %s", back, first)
	}
	if err := os.WriteFile(memory, []byte("{damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if d := digest("gcc", "cmake"); d != first {
		t.Errorf("with a damaged memory %s, was %s", d, first)
	}
}

func TestHostToolsMissing(t *testing.T) {
	bin := t.TempDir()
	program(t, bin, "cmake", "cmake version 3.25.1")
	_, missing, err := HostTools(t.Context(), "", bin, []string{"ninja", "zig", "cmake", "glslc", "ld", "as", "/usr/bin/no-such-gcc"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Missing{{"/usr/bin/no-such-gcc", "no-such-gcc"}, {"as", "binutils"}, {"glslc", "glslc"}, {"ld", "binutils"}, {"ninja", "ninja-build"}, {"zig", ""}}
	if d := cmp.Diff(want, missing); d != "" {
		t.Error(d)
	}
	e := &MissingTools{missing}
	if got, want := e.Error(), "--host-tools: this machine lacks /usr/bin/no-such-gcc, as, glslc, ld, ninja, zig; on Debian: apt-get install no-such-gcc binutils glslc ninja-build; Debian has no zig"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if verdict.Of(e) != verdict.Infra {
		t.Errorf("verdict %s", verdict.Of(e))
	}
}

// A program that knows no --version, or never answers it, has none.
func TestHostToolsWithoutVersion(t *testing.T) {
	bin := t.TempDir()
	for name, text := range map[string]string{"odd": "#!/bin/sh\nexit 3\n", "binary": "#!/no/such/interpreter\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d, missing, err := HostTools(t.Context(), "", bin, []string{"odd", "binary"})
	if d == "" || len(missing) > 0 || err != nil {
		t.Errorf("%s, %v, %v", d, missing, err)
	}
	if _, missing, _ := HostTools(t.Context(), "", "relative:.", []string{"odd"}); len(missing) != 1 {
		t.Error("a program is found in a folder that is not absolute")
	}
}
