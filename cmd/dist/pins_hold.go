// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// onePin takes the name of a pin for what is held.
func onePin(set *pins.Set, name string) ([]*pins.Pin, error) {
	p, err := set.Named(name)
	return []*pins.Pin{p}, err
}

// pinOrGroup takes the name of a group, for all of its pins, or of a pin.
func pinOrGroup(set *pins.Set, name string) ([]*pins.Pin, error) {
	g := set.Group(name)
	if g == nil {
		p := set.Pin(name)
		if p == nil {
			return nil, verdict.Usagef("there is no group and no pin %q; 'dist nightly status' shows the groups, 'dist pins list' the pins", name)
		}
		return []*pins.Pin{p}, nil
	}
	var list []*pins.Pin
	for _, m := range g.Members {
		list = append(list, set.Pin(m))
	}
	return list, nil
}

func newPinsHold() *cobra.Command {
	cmd := holdCommand(onePin)
	cmd.Use, cmd.Short = "hold NAME --reason TEXT", "Stop a pin from moving"
	cmd.Long = `Stop a pin from moving, with the reason and, if it is known, the last day. The
hold is written into the pin's file: commit it like any other change.`
	cmd.Example = `  dist pins hold zinc --reason 'loses tokens on long prompts'
  dist pins hold zinc --reason 'waits for the driver' --until 2026-12-31`
	return cmd
}

func newHold() *cobra.Command {
	cmd := holdCommand(pinOrGroup)
	cmd.Use, cmd.Short = "hold NAME --reason TEXT", "Stop a group, or a pin, from moving"
	cmd.Long = `Stop all pins of a group from moving, or one pin, with the reason and, if it is
known, the last day. The hold is written into the files of the pins: commit it
like any other change. Nights show it with its reason, and an alarm after three
days all the same.

A name of both is the group's: 'dist pins hold' holds the pin alone.`
	cmd.Example = `  dist hold hrx --reason 'answers nothing to long prompts' --until 2026-12-31
  dist hold zig --reason 'waits for zinc'`
	cmd.ValidArgsFunction = completePinsAndGroups
	return cmd
}

func holdCommand(of func(*pins.Set, string) ([]*pins.Pin, error)) *cobra.Command {
	var hold pins.Hold
	cmd := &cobra.Command{
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			if hold.Reason == "" {
				return verdict.Usagef("a hold needs --reason: whoever meets it must know why")
			}
			if hold.Until != "" {
				if _, err := time.Parse(time.DateOnly, string(hold.Until)); err != nil {
					return verdict.Usagef("--until %q is not a date such as 2026-12-31", hold.Until)
				}
				if !hold.Active(clock.System()) {
					return verdict.Usagef("--until %s is over already", hold.Until)
				}
			}
			return editHold(cmd, of, args[0], &hold)
		},
	}
	cmd.Flags().StringVar(&hold.Reason, "reason", "", "why it must not move (one line)")
	cmd.Flags().StringVar((*string)(&hold.Until), "until", "", "last day of the hold, as 2026-12-31 (default: until it is taken back with unhold)")
	cmd.Flags().StringVar(&hold.Issue, "issue", "", "number of the issue about it, or its https address")
	return cmd
}

func newPinsUnhold() *cobra.Command {
	cmd := unholdCommand(onePin)
	cmd.Short, cmd.Example = "Let a pin move again", "  dist pins unhold zinc"
	return cmd
}

func newUnhold() *cobra.Command {
	cmd := unholdCommand(pinOrGroup)
	cmd.Short, cmd.Example = "Let a group, or a pin, move again", "  dist unhold hrx"
	cmd.ValidArgsFunction = completePinsAndGroups
	return cmd
}

func unholdCommand(of func(*pins.Set, string) ([]*pins.Pin, error)) *cobra.Command {
	return &cobra.Command{
		Use:               "unhold NAME",
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			return editHold(cmd, of, args[0], nil)
		},
	}
}

// completePinsAndGroups completes names of pins and groups.
func completePinsAndGroups(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, directive := completePins(cmd, args, begun)
	if set, _, err := loadPins(cmd); err == nil {
		for _, g := range set.Groups {
			names = append(names, cobra.CompletionWithDesc(g.Name, "a group"))
		}
	}
	return names, directive
}

// A held is what became of one pin's hold.
type held struct {
	Name    string     `json:"name"`
	File    string     `json:"file"`
	Hold    *pins.Hold `json:"hold"`
	Changed bool       `json:"changed"`
}

// editHold sets the hold of pins, or removes it if hold is nil: of all that the
// name stands for, or of none.
func editHold(cmd *cobra.Command, of func(*pins.Set, string) ([]*pins.Pin, error), name string, hold *pins.Hold) error {
	set, dir, err := loadPins(cmd)
	if err != nil {
		return err
	}
	list, err := of(set, name)
	if err != nil {
		return err
	}
	var changes []pins.Change
	for _, p := range list {
		changes = append(changes, pins.Change{Name: p.Name, Edit: func(file []byte) ([]byte, error) {
			if hold == nil {
				return pins.RemoveHold(file)
			}
			return pins.SetHold(file, *hold)
		}})
	}
	changed, err := pins.EditAll(dir, changes...)
	if err != nil {
		return err
	}
	env := cli.From(cmd)
	var rows []held
	for i, p := range list {
		row := held{p.Name, p.File(), hold, changed[i]}
		rows = append(rows, row)
		if !env.JSON {
			showHold(env, row)
		}
	}
	switch {
	case env.JSON && set.Group(name) == nil:
		return env.PrintJSON(rows[0])
	case env.JSON:
		return env.PrintJSON(rows)
	}
	return nil
}

func showHold(env *cli.Env, row held) {
	switch {
	case !row.Changed && row.Hold == nil:
		env.Printf("%s is not held\n", row.Name)
	case !row.Changed:
		env.Printf("%s is held like that already\n", row.Name)
	case row.Hold == nil:
		env.Printf("%s may move again: commit %s\n", row.Name, row.File)
	default:
		env.Printf("%s is held: commit %s\n", row.Name, row.File)
	}
}
