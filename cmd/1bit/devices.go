// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/engine/probe"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newDevices() *cobra.Command {
	var (
		noVulkan bool
		root     string
	)
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "Say what this machine has, and which devices that enables",
		Long: `Say what this machine has, and which devices of '1bit serve' that enables, or
why not. It reads /sys, /proc and /dev, opens the devices and closes them again.
What a llama-server lists comes from that program, which is asked once and again
only when it or its surroundings change; --no-vulkan does without.`,
		Example: `  1bit devices
  1bit devices --json | jq '.devices[] | select(.enabled) | .device'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			found, err := probe.Programs(cmd.Context(), route.Request{}, route.ThisHost(), !noVulkan)
			if err != nil {
				return err
			}
			m := probe.Read(probe.Files{Root: root})
			m.Decide(found)
			if env.JSON {
				return env.PrintJSON(m)
			}
			showMachine(env, m)
			return nil
		},
	}
	cmd.Flags().BoolVar(&noVulkan, "no-vulkan", false, "do not ask a llama-server which devices it lists")
	cmd.Flags().StringVar(&root, "root", "", "`folder` with another machine's /sys, /proc and /dev")
	cmd.Flags().MarkHidden("root")
	return cmd
}

// showMachine prints a machine for people.
func showMachine(env *cli.Env, m probe.Machine) {
	where := m.OS + " " + m.Kernel
	if m.Container != "" {
		where += ", in a container (" + m.Container + ")"
	}
	if m.WSL {
		where += ", WSL"
	}
	env.Printf("machine  %s\ncpu      %s\nmemory   %s, %s in use\n", where, or(m.CPU, "unknown"), size(m.Memory.Total), size(m.Memory.Used))
	if m.Limits.TTM > 0 {
		env.Printf("limit    the GPU may take %s of it (ttm.pages_limit)\n", size(m.Limits.TTM))
	}
	env.Printf("kfd      %s\n", or(m.KFD.Reason, string(m.KFD.Access)))
	for _, g := range m.GPUs {
		env.Printf("gpu      %s\n", gpuLine(g))
	}
	for _, n := range m.NPUs {
		env.Printf("npu      %s\n", npuLine(n))
	}
	for _, d := range m.Vulkan.Devices {
		env.Printf("vulkan   %s: %s, %d MiB\n", d.Name, d.Description, d.TotalMiB)
	}
	for _, h := range m.HSA {
		env.Printf("hsa      %s\n", strings.TrimSpace(h.Path+" "+h.Version))
	}
	if p := strings.Join(nonEmpty(m.Power.Profile, m.Power.Governor, m.Power.EPP), ", "); p != "" {
		env.Printf("power    %s\n", p)
	}
	for _, w := range m.Warnings {
		env.Printf("warning  %s\n", w)
	}
	env.Printf("\n")
	showRows(env, m.Rows)
}

func showRows(env *cli.Env, rows []probe.Row) {
	table := cli.Table{Head: []string{"DEVICE", "USABLE", "ON, OR WHY NOT"}}
	for _, r := range rows {
		if r.Enabled {
			table.Add(string(r.Device), "yes", r.Uses+", by "+r.Program)
		} else {
			table.Add(string(r.Device), "no", r.Reason)
		}
	}
	if !env.JSON {
		table.Write(env.Out, false)
	}
}

func gpuLine(g probe.GPU) string {
	parts := nonEmpty(g.Name, g.GFX, g.PCI, g.Driver)
	if g.Units > 0 {
		parts = append(parts, fmt.Sprintf("%d compute units", g.Units))
	}
	if g.VRAM.Total > 0 {
		parts = append(parts, "VRAM "+size(g.VRAM.Total))
	}
	if g.GTT.Total > 0 {
		parts = append(parts, "GTT "+size(g.GTT.Total))
	}
	if g.Millideg > 0 {
		parts = append(parts, fmt.Sprintf("%d °C", g.Millideg/1000))
	}
	if g.Microwatt > 0 {
		parts = append(parts, fmt.Sprintf("%d W", g.Microwatt/1_000_000))
	}
	return strings.Join(append(parts, or(g.Node.Reason, g.Node.Path)), ", ")
}

func npuLine(n probe.NPU) string {
	parts := []string{n.Name + " (" + n.Chip + ")", n.Architecture, n.PCI}
	if n.Firmware != "" {
		parts = append(parts, "firmware "+n.Firmware)
	}
	return strings.Join(append(nonEmpty(parts...), or(n.Node.Reason, n.Node.Path)), ", ")
}

func size(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func nonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
