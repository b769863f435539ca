// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/internal/cli"
)

// A planned is one program as --dry-run and doctor show it.
type planned struct {
	Role    string   `json:"role,omitempty"`
	Device  string   `json:"device"`
	Model   string   `json:"model"`
	Program string   `json:"program"`
	Args    []string `json:"args"` // PORT stands for the port
	Env     []string `json:"env"`
}

// planOf returns all programs of a service; those that choose for requests
// come last.
func planOf(s route.Service) []planned {
	list := []planned{}
	for _, p := range append(append([]route.Plan{}, s.Main...), s.RAG...) {
		list = append(list, planned{p.Role, string(p.Device), p.Model, p.Program, p.Args, append([]string{}, p.Env...)})
	}
	if l := s.Pick.Scorer; l != nil {
		list = append(list, planned{Role: "laya", Program: l.Program, Args: l.Args, Env: []string{}})
	}
	return list
}

// dryRun prints what serve would start.
func dryRun(cmd *cobra.Command, r route.Request, h route.Host) error {
	env := cli.From(cmd)
	s, err := route.New(cmd.Context(), r, h)
	if err != nil {
		return err
	}
	for _, note := range s.Notes {
		env.Notef("1bit serve: %s", note)
	}
	if env.JSON {
		return env.PrintJSON(planOf(s))
	}
	for _, p := range planOf(s) {
		env.Printf("%s\n", p.line())
	}
	return nil
}

// line is a command line for a shell, but for the port.
func (p planned) line() string {
	words := []string{}
	for _, kv := range p.Env {
		name, value, _ := strings.Cut(kv, "=")
		words = append(words, name+"="+quote(value))
	}
	words = append(words, quote(p.Program))
	for _, a := range p.Args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}

// quote returns a word as a POSIX shell reads it.
func quote(s string) string {
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || r == '/' || r == ',' || r == '=' || r == ':' || r == '@' || r == '+' ||
			('0' <= r && r <= '9') || ('a' <= r && r <= 'z') || ('A' <= r && r <= 'Z')
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
