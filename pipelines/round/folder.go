// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import "path/filepath"

// A Folder is what one phase hands on to the next for one group: everything
// that the group's gates need without a network, and what they found.
//
//	round.json       the round
//	receipts.json    []fetch.Archived: where each locked commit is kept
//	cache/           repositories as package fetch keeps them, and Go modules; its store is a link to
//	store/           the sources, inputs, toolchains and built components, as package store has them
//	verdicts.json    []gate.Result, written by the gates
//	logs/NAME.txt    what gate NAME printed
//	split.json       names of the pins that stay, where only half of the round goes on
//	proposal.json    what would be proposed: commit, title, draft or not
//	proposal.md      its text
//	proposal.bundle  the proposed commit, as a git bundle on top of Round.Base
type Folder string

// The files of a folder.
func (f Folder) Round() string    { return filepath.Join(string(f), "round.json") }
func (f Folder) Receipts() string { return filepath.Join(string(f), "receipts.json") }
func (f Folder) Cache() string    { return filepath.Join(string(f), "cache") }
func (f Folder) Store() string    { return filepath.Join(string(f), "store") }
func (f Folder) Verdicts() string { return filepath.Join(string(f), "verdicts.json") }
func (f Folder) Logs() string     { return filepath.Join(string(f), "logs") }
func (f Folder) Split() string    { return filepath.Join(string(f), "split.json") }
func (f Folder) Proposal() string { return filepath.Join(string(f), "proposal.json") }
func (f Folder) Body() string     { return filepath.Join(string(f), "proposal.md") }
func (f Folder) Bundle() string   { return filepath.Join(string(f), "proposal.bundle") }
