// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// A toolchainRow is one toolchain in a list.
type toolchainRow struct {
	Name     string     `json:"name"`
	Kind     pins.Kind  `json:"kind"`
	Version  string     `json:"version,omitempty"`
	State    pins.State `json:"state"`
	Files    int        `json:"files,omitempty"`    // of the lock
	Download int64      `json:"download,omitempty"` // bytes of the lock's files
	InStore  bool       `json:"in-store"`
	Size     int64      `json:"size,omitempty"` // bytes, unpacked
	Path     string     `json:"path,omitempty"`
}

func newToolchainList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the toolchains",
		Long:  "List the toolchains: how each is had, its lock, and whether it is in the store.",
		Example: `  dist toolchain list
  dist toolchain list --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, _, err := loadPins(cmd)
			if err != nil {
				return err
			}
			cache, err := build.DefaultCache()
			if err != nil {
				return err
			}
			st, err := cache.Store()
			if err != nil {
				return err
			}
			rows := []toolchainRow{}
			for _, p := range set.Pins {
				if !toolchain.Is(p) {
					continue
				}
				row := toolchainRow{Name: p.Name, Kind: p.Track.Kind, State: p.State()}
				if p.Lock != nil {
					row.Version, row.Files = p.Lock.Version, len(p.Lock.Files)
					for _, f := range p.Lock.Files {
						row.Download += f.Size
					}
				}
				if e, err := toolchain.Cached(st, p); err == nil {
					row.InStore, row.Size, row.Path = true, e.Size, e.Path
				}
				rows = append(rows, row)
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(rows)
			}
			table := cli.Table{Head: []string{"NAME", "KIND", "VERSION", "STATE", "FILES", "DOWNLOAD", "IN STORE"}}
			for _, r := range rows {
				files, download, in := "-", "-", "no"
				if r.Files > 0 {
					files, download = fmt.Sprint(r.Files), megabytes(r.Download)
				}
				if r.InStore {
					in = megabytes(r.Size)
				}
				table.Add(r.Name, string(r.Kind), shortVersion(r.Version, ""), string(r.State), files, download, in)
			}
			return table.Write(env.Out, env.Color)
		},
	}
}
