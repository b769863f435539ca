// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package ability reads what a llama-server can do: which flags it knows, with
// all their spellings, and which devices it lists. It asks the program itself,
// --help, --version and --list-devices, once, and remembers the answers in the
// user's cache by the identity of the program and of its surroundings.
//
// Limits: the answers are text for people, so what can not be read is left
// unknown (Program.FlagsKnown, DevicesKnown) and never guessed.
package ability

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/run"
)

// A Program is what a llama-server says of itself.
type Program struct {
	Path         string   `json:"path"`
	Version      string   `json:"version"` // one line; empty when it does not say
	Flags        []Flag   `json:"flags"`
	FlagsKnown   bool     `json:"flags_known"`
	Devices      []Device `json:"devices"`
	DevicesKnown bool     `json:"devices_known"`
}

// A Device is one line of --list-devices. A CPU is never listed.
type Device struct {
	Name        string `json:"name"`        // "Vulkan0": the back-end and an index
	Description string `json:"description"` // "AMD Radeon 8060S Graphics (RADV STRIX_HALO)"
	TotalMiB    int64  `json:"total_mib"`
	FreeMiB     int64  `json:"free_mib"`
	Software    bool   `json:"software"` // a renderer on the CPU that poses as a GPU
}

// Device returns the listed device of that name.
func (p Program) Device(name string) (Device, bool) {
	for _, d := range p.Devices {
		if d.Name == name {
			return d, true
		}
	}
	return Device{}, false
}

// Flag returns the flag with that spelling.
func (p Program) Flag(spelling string) (Flag, bool) {
	for _, f := range p.Flags {
		for _, n := range f.Names {
			if n == spelling {
				return f, true
			}
		}
	}
	return Flag{}, false
}

// Limits of one question. Flags and version are text of the program; for the
// list of devices a first start compiles shaders, which can take longer than ten
// seconds. A llama-server's flags are 60 KB of text.
const (
	textWait    = 10 * time.Second
	listWait    = time.Minute
	answerLimit = 1 << 20 // bytes
)

// Ask asks the program at path. Only the end of ctx is an error. A program that
// does not end when it is asked for its flags is asked nothing more: it takes no
// questions, and may have begun to serve.
func Ask(ctx context.Context, path string) (Program, error) {
	p := Program{Path: path}
	r, _, err := ask(ctx, path, "--help", textWait)
	var exit *run.ExitError
	if errors.As(err, &exit) && exit.TimedOut {
		return p, ctx.Err()
	}
	if err == nil {
		p.Flags = parseHelp(r)
		p.FlagsKnown = len(p.Flags) > 0
	}
	r, errs, _ := ask(ctx, path, "--version", textWait) // some say it and exit with another status
	p.Version = parseVersion(r + "\n" + errs)
	if r, _, err = ask(ctx, path, "--list-devices", listWait); err == nil {
		p.Devices, p.DevicesKnown = parseDevices(r)
	}
	return p, ctx.Err()
}

// ask returns the beginnings of what the program says, without what a terminal
// would obey: parts of it come to stand in messages.
func ask(ctx context.Context, path, question string, wait time.Duration) (out, errs string, err error) {
	var b beginning
	r, err := run.Command{Path: path, Args: []string{question}, Env: os.Environ(), Timeout: wait, Stdout: &b}.Run(ctx)
	clean := func(b []byte) string {
		return inert.Text(string(b[:min(len(b), answerLimit)]), answerLimit, answerLimit)
	}
	return clean(b.kept), clean(r.Stderr), err
}

// A beginning keeps the first answerLimit bytes that are written to it.
type beginning struct{ kept []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), answerLimit-len(b.kept))]...)
	return len(p), nil
}

// parseVersion returns the first line that begins with "version: ", without
// that.
func parseVersion(text string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "version: "); ok {
			return inert.Text(v, 1, textLimit)
		}
	}
	return ""
}
