// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
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

// After a signal the one message is that there was one, whatever the work made
// of its cancelled context; a command that ended well is left alone.
func TestSignalIsTheError(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code int
		say  string
	}{
		{"a program that was ended", verdict.Failf("go list: "), 5, "stopped by a signal"},
		{"a cancelled context", context.Canceled, 5, "stopped by a signal"},
		{"it ended well", nil, 0, ""},
		{"a usage error", verdict.Usagef("not so"), 2, "not so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, signal := context.WithCancel(t.Context())
			do := &cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { signal(); return c.err }}
			var out, errw bytes.Buffer
			code := cli.Execute(ctx, cli.Group(cli.New("tool", "", ""), do), verdict.ExitCode, []string{"do"}, strings.NewReader(""), &out, &errw)
			if code != c.code || !strings.Contains(errw.String(), c.say) || strings.Count(errw.String(), "\n") > 1 {
				t.Errorf("exit code %d, stderr %q; want %d and %q", code, errw.String(), c.code, c.say)
			}
		})
	}
}
