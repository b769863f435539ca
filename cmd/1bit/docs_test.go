// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/1bit-MONSTER/engine/engine/route"
)

// ofBackends are the flags in docs/serve.md that are not serve's own.
var ofBackends = []string{"help", "version", "list-devices", "no-vulkan", "family"}

// TestDocs: every flag of serve is in docs/serve.md, and every flag there is one.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	text, flags := string(b), newServe().Flags()
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !regexp.MustCompile(`--`+f.Name+`\b`).MatchString(text) {
			t.Errorf("docs/serve.md lacks --%s", f.Name)
		}
	})
	for _, m := range regexp.MustCompile(`--([a-z][a-z0-9-]*)`).FindAllStringSubmatch(text, -1) {
		if flags.Lookup(m[1]) == nil && m[1] != "json" && m[1] != "flag" && !slices.Contains(ofBackends, m[1]) {
			t.Errorf("docs/serve.md has --%s, which there is not", m[1])
		}
	}
	for _, f := range route.AllForwards() {
		if path, _, _ := strings.Cut(f.Path, "/{"); !strings.Contains(text, path) && !strings.Contains(path, "rerank") && path != "/embeddings" {
			t.Errorf("docs/serve.md lacks %s", path)
		}
	}
}
