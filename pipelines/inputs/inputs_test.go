// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

const pin = `name: go
what: the Go toolchain
license: BSD-3-Clause
use: build-tool
track: {kind: go-module, module: golang.org/toolchain, platform: linux-amd64, schemes: [{pattern: 'v0.0.1-go{semver}.linux-amd64'}]}
lock:
  version: v0.0.1-go1.27.4.linux-amd64
  sum: h1:8Tl0rBb7KdISSdPkZBjlpZxsUBb+004GI/SM2XbmSqI=
  date: 2026-11-03T00:00:00Z
`

const sums = "example.com/m v1.0.0 h1:x\n"

func manifest(t *testing.T, change func(*Manifest)) *Manifest {
	t.Helper()
	m := Manifest{For: []string{Checks, "serve"}, Go: "store/go", GoSum: "h1:8Tl0rBb7KdISSdPkZBjlpZxsUBb+004GI/SM2XbmSqI=", Modules: ModulesSum([]byte(sums))}
	if change != nil {
		change(&m)
	}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Manifest)
		sums   string
		wanted []string
		says   string // empty: it is fine
	}{
		{name: "as fetched", sums: sums, wanted: []string{"serve"}},
		{name: "nothing wanted", sums: sums},
		{"another component", nil, sums, []string{"serve", "xdna"}, "there are no verified inputs for xdna: run 'go run ./cmd/dist fetch --for checks --for serve --for xdna'"},
		{"Go moved", func(m *Manifest) { m.GoSum = "h1:old=" }, sums, []string{"serve"}, "the pin go has moved since the inputs were fetched: run 'go run ./cmd/dist fetch --for checks --for serve' again"},
		{"modules changed", nil, sums + "more\n", []string{"serve"}, "go.sum has changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := manifest(t, c.change).Check([]byte(pin), []byte(c.sums), c.wanted...)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if verdict.ExitCode(err) != 2 || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("exit code %d: %v", verdict.ExitCode(err), err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for name, text := range map[string]string{
		"empty":          "",
		"cut off":        `{"schema": 1, "for": ["se`,
		"another schema": `{"schema": 2, "for": ["serve"]}`,
		"no schema":      `{}`,
	} {
		if m, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "fetch --for serve' again") {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}
