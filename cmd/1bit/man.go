// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/1bit-MONSTER/engine/engine/version"
	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long:  "Print the manual page, in the form that man reads.",
		Example: `  1bit man | man -l -
  1bit man >/usr/local/share/man/man1/1bit.1`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return manual(cli.From(cmd).Out, cmd.Root())
		},
	}
}

// manual writes one page for all commands.
func manual(w io.Writer, root *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH 1BIT 1 \"\" \"1bit %s\" \"1bit engine\"\n.SH NAME\n1bit \\- %s\n.SH SYNOPSIS\n.B 1bit\n\\fICOMMAND\\fR [\\fIFLAGS\\fR]\n.SH DESCRIPTION\n", roff(version.Get().Version), roff(root.Short))
	paragraphs(&b, root.Long)
	b.WriteString(".SH COMMANDS\n")
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() || c.HasSubCommands() {
			continue
		}
		fmt.Fprintf(&b, ".SS 1bit %s\n", roff(c.UseLine()[len("1bit "):]))
		paragraphs(&b, c.Long)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { manualFlag(&b, f) })
		if c.Example != "" {
			fmt.Fprintf(&b, ".PP\nExamples:\n.PP\n.nf\n%s\n.fi\n", roff(c.Example))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func manualFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, usage := pflag.UnquoteUsage(f)
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(name))
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s\n", roff(usage))
}

func paragraphs(b *strings.Builder, text string) {
	for p := range strings.SplitSeq(text, "\n\n") {
		fmt.Fprintf(b, ".PP\n%s\n", roff(p))
	}
}

// roff returns text as man reads it literally.
func roff(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = "\\&" + l
		}
	}
	return strings.Join(lines, "\n")
}
