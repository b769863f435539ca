// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package toolchain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

const version = "v0.0.1-go9.9.9.linux-amd64"

// fakeGo writes a go command that answers "go env" as the real one and does
// for "go mod download" what script says, with $dir the folder of the module.
func fakeGo(t *testing.T, script string) string {
	t.Helper()
	bin := t.TempDir()
	text := fmt.Sprintf(`#!/bin/sh
[ "$1" = env ] && { echo '{"GOPROXY": "https://proxy.example", "GOSUMDB": "off"}'; exit; }
dir=$GOMODCACHE/golang.org/toolchain@%s
%s
`, version, script)
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

const good = `mkdir -p "$dir/bin" "$dir/src"
echo tool >"$dir/bin/go"; echo source >"$dir/src/a.go"
env >"${0%/*}/seen"
printf '{"Dir": "%s"}' "$dir"`

// sumOfGood is the h1: of what good brings.
func sumOfGood(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"bin/go": "tool\n", "src/a.go": "source\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := dirhash.HashDir(dir, GoModule+"@"+version, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestFetchGo(t *testing.T) {
	for _, c := range []struct {
		name    string
		scripts []string // one go command each, in the order of PATH
		sum     string
		verdict verdict.Verdict
		say     string
	}{
		{"the first that works", []string{good}, "", verdict.Pass, ""},
		{"the second, when the first fails", []string{"exit 7", good}, "", verdict.Pass, ""},
		{"the second, when the first talks nonsense", []string{"echo hello", good}, "", verdict.Pass, ""},
		{"another sum", []string{good}, "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", verdict.Fail, "nothing of it is used"},
		{"no network", []string{`echo '{"Error": "dial tcp: no route to host"}'; exit 1`}, "", verdict.Infra, "no route to host): check the network and 'go env GOPROXY'"},
		{"a full disk", []string{`echo 'write x: no space left on device' >&2; exit 1`}, "", verdict.Infra, "is full"},
		{"no go command", nil, "", verdict.Infra, "install Go 1.26 or newer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dirs []string
			for _, script := range c.scripts {
				dirs = append(dirs, fakeGo(t, script))
			}
			t.Setenv("PATH", strings.Join(append(dirs, "/usr/bin", "/bin"), string(filepath.ListSeparator)))
			t.Setenv("GOROOT", "")
			t.Setenv("GOFLAGS", "-tags=poison")
			t.Setenv("MY_TOKEN", "secret")
			st := newStore(t)
			sum := c.sum
			if sum == "" {
				sum = sumOfGood(t)
			}
			g, err := FetchGo(t.Context(), st, version, sum, nil)
			if got := verdict.Of(err); got != c.verdict || err != nil && !strings.Contains(err.Error(), c.say) {
				t.Fatalf("verdict %s: %v, want %s with %q", got, err, c.verdict, c.say)
			}
			if left, _ := os.ReadDir(filepath.Join(st.Dir(), "tmp")); len(left) > 0 {
				t.Errorf("the store's tmp holds %v", left)
			}
			if err != nil {
				var absent *store.Absent
				if _, err := CachedGo(st, version, sum); !errors.As(err, &absent) {
					t.Errorf("it is in the store all the same: %v", err)
				}
				return
			}
			if info, err := os.Stat(g.Bin()); err != nil || info.Mode().Perm() != 0o555 {
				t.Errorf("bin/go is %v, %v", info, err)
			}
			if g.Name() != "go9.9.9" {
				t.Errorf("its name is %s", g.Name())
			}
			seen, err := os.ReadFile(filepath.Join(dirs[len(dirs)-1], "seen"))
			if err != nil || strings.Contains(string(seen), "poison") || strings.Contains(string(seen), "secret") || !strings.Contains(string(seen), "GOPROXY=https://proxy.example") {
				t.Errorf("the client saw %s (%v)", seen, err)
			}
			t.Setenv("PATH", "/nonexistent")
			if _, err := FetchGo(t.Context(), st, version, sum, nil); err != nil {
				t.Errorf("the second time, from the store: %v", err)
			}
		})
	}
}
