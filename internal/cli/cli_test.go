// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// call runs a program with a command do that ends as result says.
func call(result func(*Env) error, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	root := Group(New("prog", "short", "long"), &cobra.Command{
		Use: "do", Short: "do", Args: Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return result(From(cmd)) },
	})
	code = Execute(context.Background(), root, verdict.ExitCode, args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func TestExecute(t *testing.T) {
	ok := func(env *Env) error { env.Printf("done\n"); return nil }
	fail := func(*Env) error { return verdict.Infraf("no network") }
	for _, c := range []struct {
		name   string
		result func(*Env) error
		args   []string
		code   int
		out    string
		errs   string
	}{
		{"pass", ok, []string{"do"}, 0, "done\n", ""},
		{"infra", fail, []string{"do"}, 5, "", "prog: no network\n"},
		{"unknown command", ok, []string{"dont"}, 2, "", "prog: unknown command \"dont\" for \"prog\" (see 'prog --help')\n"},
		{"unknown flag", ok, []string{"do", "--x"}, 2, "", "prog: unknown flag: --x (see 'prog do --help')\n"},
		{"too many arguments", ok, []string{"do", "x"}, 2, "", "prog: unknown command \"x\" for \"prog do\" (see 'prog do --help')\n"},
		{"told already", func(*Env) error { return Done(verdict.Held) }, []string{"do"}, 4, "", ""},
		{"told already, and nothing wrong", func(*Env) error { return Done(verdict.Pass) }, []string{"do"}, 0, "", ""},
		{"text beside JSON", ok, []string{"do", "--json"}, 0, "", "done\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := call(c.result, c.args...)
			if code != c.code || out != c.out || errs != c.errs {
				t.Errorf("exit %d, out %q, err %q; want %d, %q, %q", code, out, errs, c.code, c.out, c.errs)
			}
		})
	}
}

func TestErrorsAsJSON(t *testing.T) {
	code, out, errs := call(func(*Env) error { return errors.New("broken") }, "do", "--json")
	var v struct {
		Error, Verdict string
		Exit           int
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if code != 1 || v.Error != "broken" || v.Verdict != "fail" || v.Exit != 1 || errs != "prog: broken\n" {
		t.Errorf("exit %d, %+v, %q", code, v, errs)
	}
	// What was printed stays the only value.
	_, out, _ = call(func(env *Env) error { env.PrintJSON("x"); return errors.New("broken") }, "do", "--json")
	if out != "\"x\"\n" {
		t.Errorf("out is %q", out)
	}
}

func TestTable(t *testing.T) {
	table := Table{Head: []string{"A", "LONGER"}}
	table.Add("größer", "pass")
	table.Add("x", "")
	var b bytes.Buffer
	if err := table.Write(&b, false); err != nil {
		t.Fatal(err)
	}
	if want := "A       LONGER\ngrößer  pass\nx\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	table.Write(&b, true)
	if !strings.Contains(b.String(), "\x1b[32mpass\x1b[0m") {
		t.Errorf("no colour in %q", b.String())
	}
}

// What came from an upstream, or from a branch that others write to, neither
// acts on the terminal nor breaks the table.
func TestTableShowsNoControl(t *testing.T) {
	table := Table{Head: []string{"GROUP", "WHY"}}
	row := []string{"zinc", "a\x1b[31mred\u202e\nfake  pass\xff"}
	table.Add(row...)
	table.Add("naïve 漢字", "stays as it is")
	var b strings.Builder
	if err := table.Write(&b, true); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "GROUP     WHY\nzinc      ared fake pass\nnaïve 漢字  stays as it is\n"; got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if row[1] != table.Rows[0][1] || !strings.Contains(row[1], "\x1b") {
		t.Error("the table changed what it was given")
	}
}
