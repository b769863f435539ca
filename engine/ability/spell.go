// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ability

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A spelling is how a flag of ours was, or is now, called by other builds of
// llama-server: alternatives with the same meaning, in the order of trying.
type spelling struct {
	flag  string
	value bool     // it takes one
	other []string // other names for it
}

// spellings are the flags that a route passes and that have had other names.
// From the --help of builds of 2025 and 2026.
var spellings = []spelling{
	{flag: "-fa", value: true, other: []string{"--flash-attn"}},
	{flag: "-np", value: true, other: []string{"--parallel"}},
	{flag: "-c", value: true, other: []string{"--ctx-size"}},
	{flag: "-b", value: true, other: []string{"--batch-size"}},
	{flag: "-ub", value: true, other: []string{"--ubatch-size"}},
	{flag: "-ngl", value: true, other: []string{"--gpu-layers", "--n-gpu-layers"}},
	{flag: "-ot", value: true, other: []string{"--override-tensor"}},
	{flag: "-kvu", other: []string{"--kv-unified"}},
	{flag: "-md", value: true, other: []string{"--spec-draft-model", "--model-draft"}},
	{flag: "-ngld", value: true, other: []string{"--spec-draft-ngl", "--gpu-layers-draft", "--n-gpu-layers-draft"}},
	{flag: "--device", value: true, other: []string{"-dev"}},
	{flag: "--mmproj", value: true, other: []string{"-mm"}},
	{flag: "--embedding", other: []string{"--embeddings"}},
	{flag: "--reranking", other: []string{"--rerank"}},
	{flag: "--jinja"},
	{flag: "--no-host"},
	{flag: "--no-repack", other: []string{"-nr"}},
	{flag: "--load-mode", value: true, other: []string{"-lm"}},
	{flag: "--spec-type", value: true},
	{flag: "--spec-draft-n-max", value: true, other: []string{"--draft-max", "--draft-n", "--draft"}},
	{flag: "--spec-draft-p-min", value: true, other: []string{"--draft-p-min"}},
}

// Lacks says that a program does not know a flag, by none of its names, or not
// with that value.
type Lacks struct {
	Program string
	Version string
	Flag    string
	Tried   []string // other spellings
	Values  []string // the values that it takes, when it knows the flag
}

func (l *Lacks) Error() string {
	who := l.Program
	if l.Version != "" {
		who += " (" + l.Version + ")"
	}
	text := fmt.Sprintf("%s does not know %s", who, l.Flag)
	switch {
	case l.Values != nil:
		text += ", only " + strings.Join(l.Values, ", ")
	case len(l.Tried) > 0:
		text = fmt.Sprintf("%s knows neither %s nor %s", who, l.Flag, strings.Join(l.Tried, " nor "))
	}
	return text + ": give another llama-server, or leave out what needs it"
}

// Spell returns args as this program spells them. What it can not say in any
// spelling is an error of type *Lacks. Where its flags are unknown, args are
// returned as they are.
func (p Program) Spell(args []string) ([]string, error) {
	if !p.FlagsKnown {
		return args, nil
	}
	var out []string
	for i := 0; i < len(args); i++ {
		s := spellingOf(args[i])
		f, name, ok := p.find(s)
		if !ok && s.flag == "--load-mode" && i+1 < len(args) && args[i+1] == "mmap" && p.knows("--no-mmap") {
			i++ // an older build: it maps unless it is told not to
			continue
		}
		if !ok {
			return nil, &Lacks{Program: filepath.Base(p.Path), Version: p.Version, Flag: s.flag, Tried: s.other}
		}
		if !s.value && f.Value == "" {
			out = append(out, name)
			continue
		}
		value := ""
		if i+1 < len(args) {
			i++
			value = args[i]
		}
		said, err := p.say(f, name, s, value)
		if err != nil {
			return nil, err
		}
		out = append(out, said...)
	}
	return out, nil
}

// say returns a flag with its value as the program takes it.
func (p Program) say(f Flag, name string, s spelling, value string) ([]string, error) {
	lacks := &Lacks{Program: filepath.Base(p.Path), Version: p.Version, Flag: s.flag + " " + value}
	if s.flag == "-fa" && f.Value == "" { // a switch, off unless it is given
		switch value {
		case "on":
			return []string{name}, nil
		case "off":
			return nil, nil
		}
		lacks.Values = []string{name + " (on)", "no " + name + " (off)"}
		return nil, lacks
	}
	if f.Values != nil && (s.flag == "-fa" || s.flag == "--spec-type" || s.flag == "--load-mode") && !slices.Contains(f.Values, value) {
		lacks.Values = f.Values
		return nil, lacks
	}
	return []string{name, value}, nil
}

func spellingOf(flag string) spelling {
	for _, s := range spellings {
		if s.flag == flag {
			return s
		}
	}
	return spelling{flag: flag}
}

// find returns the program's flag for s, and the name by which it knows it.
func (p Program) find(s spelling) (Flag, string, bool) {
	for _, name := range append([]string{s.flag}, s.other...) {
		if f, ok := p.Flag(name); ok {
			return f, name, true
		}
	}
	return Flag{}, "", false
}

func (p Program) knows(flag string) bool { _, ok := p.Flag(flag); return ok }

// SameFlag says whether two spellings are of one flag, for any program.
func SameFlag(a, b string) bool {
	if a == b {
		return true
	}
	for _, s := range spellings {
		names := append([]string{s.flag}, s.other...)
		if slices.Contains(names, a) && slices.Contains(names, b) {
			return true
		}
	}
	return false
}
