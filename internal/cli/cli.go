// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is what dist and 1bit share at their edge: exit codes, --json,
// one sentence for an error, tables, colours, and signals that cancel the work.
// What a command does is a package of its own; here it is only shown.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// An Env is what a command may know of its user: the streams, and how to show
// things on them.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool // print one JSON value on Out and nothing else there
	Terminal bool // Err is a terminal: progress bars, otherwise plain lines
	Color    bool // Out is a terminal and NO_COLOR is not set

	printed bool // a JSON value was written
}

type envKey struct{}

// From returns the Env of a running command.
func From(cmd *cobra.Command) *Env { return cmd.Context().Value(envKey{}).(*Env) }

// New returns a root command with what both programs have in common: --json,
// no usage text after an error, errors returned instead of printed.
func New(name, short, long string) *cobra.Command {
	root := &cobra.Command{
		Use:           name,
		Short:         short,
		Long:          long,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().Bool("json", false, "print the result as one JSON value on standard output")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return verdict.Usagef("%s (see '%s --help')", err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	return root
}

// namesCommand is the annotation that ErrorsNameCommand sets.
const namesCommand = "errors-name-command"

// ErrorsNameCommand makes the errors of root's commands begin with the whole name
// of the command, as in "1bit serve: ...", instead of the program's alone.
func ErrorsNameCommand(root *cobra.Command) {
	root.Annotations = map[string]string{namesCommand: "yes"}
}

// Args turns cobra's complaint about positional arguments into a usage error.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return verdict.Usagef("%s (see '%s --help')", err, cmd.CommandPath())
		}
		return nil
	}
}

// Group makes cmd one that only holds other commands: called without one it
// prints its help, with an unknown one it is a usage error.
func Group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return verdict.Usagef("unknown command %q for %q (see '%s --help')", args[0], cmd.CommandPath(), cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if From(cmd).JSON { // help is no JSON value
			return verdict.Usagef("which command of %q? (see '%s --help')", cmd.CommandPath(), cmd.CommandPath())
		}
		return cmd.Help()
	}
	cmd.AddCommand(children...)
	return cmd
}

// Main runs root with the process's arguments and streams and returns the exit
// code that exit gives for its error. The first SIGINT or SIGTERM cancels the
// command's context, and an error is then this one alone; the second ends the
// process.
func Main(root *cobra.Command, exit func(error) int) int {
	return MainArgs(root, exit, os.Args[1:])
}

// MainArgs is Main with other arguments.
func MainArgs(root *cobra.Command, exit func(error) int, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Execute(ctx, root, exit, args, os.Stdin, os.Stdout, os.Stderr)
}

// Execute is Main with everything given.
func Execute(ctx context.Context, root *cobra.Command, exit func(error) int, args []string, in io.Reader, out, errw io.Writer) int {
	env := &Env{In: in, Out: out, Err: errw, Terminal: isTerminal(errw)}
	env.Color = isTerminal(out) && os.Getenv("NO_COLOR") == ""
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		env.JSON, _ = cmd.Flags().GetBool("json")
		if env.JSON {
			env.Terminal = false
		}
	}
	ran, err := root.ExecuteContextC(context.WithValue(ctx, envKey{}, env))
	if err == nil {
		return 0
	}
	var usage *verdict.Usage
	if !errors.As(err, &usage) && mistaken(err) {
		err = verdict.Usagef("%s (see '%s --help')", err, root.Name())
	}
	if ctx.Err() != nil && usage == nil {
		// Whatever came of it, a program that was ended for example, is no
		// more than this.
		err = verdict.Infraf("stopped by a signal before it was done: run the same again to go on")
	}
	code := exit(err)
	var quiet *Reported
	if errors.As(err, &quiet) {
		return code
	}
	name := root.Name()
	if root.Annotations[namesCommand] != "" {
		name = ran.CommandPath()
	}
	fmt.Fprintf(errw, "%s: %s\n", name, err)
	// A command line that was not understood ends before PersistentPreRun.
	if (env.JSON || asksJSON(args)) && !env.printed {
		env.PrintJSON(map[string]any{"error": err.Error(), "verdict": verdict.Of(err), "exit": code})
	}
	return code
}

// asksJSON says whether --json stands among the flags of a command line that
// was not, or not wholly, parsed.
func asksJSON(args []string) (yes bool) {
	for _, a := range args {
		if a == "--" {
			break
		}
		name, value, stated := strings.Cut(a, "=")
		if name == "--json" {
			on, err := strconv.ParseBool(value)
			yes = !stated || on || err != nil
		}
	}
	return yes
}

// Reported wraps an error whose message the user has already seen, in a table
// for example: only its exit code still counts.
type Reported struct{ Err error }

func (r *Reported) Error() string { return r.Err.Error() }
func (r *Reported) Unwrap() error { return r.Err }

// Done returns the error of a command that has shown everything itself: nil
// for Pass, otherwise one that only sets the exit code of v.
func Done(v verdict.Verdict) error {
	if v == verdict.Pass {
		return nil
	}
	return &Reported{verdict.New(v, string(v))}
}

// PrintJSON writes v on Out, indented.
func (e *Env) PrintJSON(v any) error {
	e.printed = true
	enc := json.NewEncoder(e.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Printf writes to Out, unless JSON is asked for: then it writes to Err, so
// that Out stays one JSON value.
func (e *Env) Printf(format string, args ...any) {
	w := e.Out
	if e.JSON {
		w = e.Err
	}
	fmt.Fprintf(w, format, args...)
}

// Notef writes a line about how the work goes to Err.
func (e *Env) Notef(format string, args ...any) { fmt.Fprintf(e.Err, format+"\n", args...) }

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// mistaken recognises cobra's complaints about a command line that have no type.
func mistaken(err error) bool {
	return strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "if any flags in the group [")
}
