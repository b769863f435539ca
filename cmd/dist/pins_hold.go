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

func newPinsHold() *cobra.Command {
	var hold pins.Hold
	cmd := &cobra.Command{
		Use:   "hold NAME --reason TEXT",
		Short: "Stop a pin from moving",
		Long: `Stop a pin from moving, with the reason and, if it is known, the last day. The
hold is written into the pin's file: commit it like any other change.`,
		Example: `  dist pins hold zinc --reason 'loses tokens on long prompts'
  dist pins hold zinc --reason 'waits for the driver' --until 2026-12-31`,
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
			return editHold(cmd, args[0], &hold)
		},
	}
	cmd.Flags().StringVar(&hold.Reason, "reason", "", "why it must not move (one line)")
	cmd.Flags().StringVar((*string)(&hold.Until), "until", "", "last day of the hold, as 2026-12-31 (default: until 'dist pins unhold')")
	cmd.Flags().StringVar(&hold.Issue, "issue", "", "number of the issue about it, or its https address")
	return cmd
}

func newPinsUnhold() *cobra.Command {
	return &cobra.Command{
		Use:               "unhold NAME",
		Short:             "Let a pin move again",
		Example:           "  dist pins unhold zinc",
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			return editHold(cmd, args[0], nil)
		},
	}
}

// editHold sets the hold of a pin, or removes it if hold is nil.
func editHold(cmd *cobra.Command, name string, hold *pins.Hold) error {
	set, dir, err := loadPins(cmd)
	if err != nil {
		return err
	}
	p, err := set.Named(name)
	if err != nil {
		return err
	}
	changed, err := pins.Edit(dir, name, func(file []byte) ([]byte, error) {
		if hold == nil {
			return pins.RemoveHold(file)
		}
		return pins.SetHold(file, *hold)
	})
	if err != nil {
		return err
	}
	env := cli.From(cmd)
	switch {
	case env.JSON:
		return env.PrintJSON(struct {
			Name    string     `json:"name"`
			File    string     `json:"file"`
			Hold    *pins.Hold `json:"hold"`
			Changed bool       `json:"changed"`
		}{name, p.File(), hold, changed})
	case !changed && hold == nil:
		env.Printf("%s is not held\n", name)
	case !changed:
		env.Printf("%s is held like that already\n", name)
	case hold == nil:
		env.Printf("%s may move again: commit %s\n", name, p.File())
	default:
		env.Printf("%s is held: commit %s\n", name, p.File())
	}
	return nil
}
