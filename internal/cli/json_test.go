// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// With --json an error is one JSON value, also when the command line was not
// understood and no command ever ran.
func TestJSONOfUsageErrors(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool // a JSON value
	}{
		{"--json nonsense", true},
		{"nonsense --json", true},
		{"do --json --nope", true},
		{"do --nope --json", true},
		{"do --json too many words", true},
		{"do --json --count x", true},
		{"--json", true},
		{"--json do", true},
		{"do --json=true --nope", true},
		{"do --json=what", true},
		{"do --json=false --nope", false},
		{"do --nope -- --json", false},
		{"do --nope", false},
	} {
		t.Run(c.line, func(t *testing.T) {
			do := &cobra.Command{
				Use: "do", Args: cli.Args(cobra.NoArgs),
				RunE: func(*cobra.Command, []string) error { return verdict.Usagef("not so") },
			}
			do.Flags().Int("count", 0, "")
			root := cli.Group(cli.New("tool", "", ""), do)
			var out, errw bytes.Buffer
			code := cli.Execute(t.Context(), root, verdict.ExitCode, strings.Fields(c.line), strings.NewReader(""), &out, &errw)
			if code != verdict.ExitUsage {
				t.Errorf("exit code %d, want %d", code, verdict.ExitUsage)
			}
			if errw.Len() == 0 {
				t.Error("nothing on stderr")
			}
			if !c.want {
				if out.Len() > 0 {
					t.Errorf("stdout %q, want nothing", out.String())
				}
				return
			}
			var v struct {
				Error string
				Exit  int
			}
			if err := json.Unmarshal(out.Bytes(), &v); err != nil || v.Error == "" || v.Exit != code {
				t.Errorf("stdout %q: %+v, %v", out.String(), v, err)
			}
		})
	}
}
