// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/1bit-MONSTER/engine/pins"
)

// Components returns every third party of the repository at root: pins and Go
// modules.
func Components(ctx context.Context, root string) ([]Component, error) {
	list, runtime := []Component(nil), goRuntime
	// Before the first pin there is no folder of them.
	if _, err := os.Stat(filepath.Join(root, "pins", pins.GroupsFile)); err == nil {
		set, err := pins.Load(filepath.Join(root, "pins"))
		if err != nil {
			return nil, err
		}
		list = Pinned(set)
		if p := set.Pin(toolchainPin); p != nil && p.Lock != nil {
			runtime.Version = p.Lock.Version
		}
	}
	modules, err := Modules(ctx, root)
	if err != nil {
		return nil, err
	}
	// Its licence is, word for word, that of its authors' modules.
	for _, m := range modules {
		if strings.HasPrefix(m.Name, "golang.org/x/") && m.License == runtime.License && len(m.Texts) > 0 {
			runtime.Texts = []Text{{strings.TrimSpace(runtime.Name+" "+runtime.Version) + ": LICENSE", m.Texts[0].Body}}
			break
		}
	}
	list = append(list, runtime)
	return append(list, modules...), nil
}

// A section is a part of NOTICE.
type section struct {
	use   Use
	title string
}

// sections are in the order of what matters most to a user.
var sections = []section{
	{Linked, "Linked into the program 1bit"},
	{Child, "Separate programs, shipped with 1bit and started by it, never linked"},
	{Model, "Models and their formats, read at run time, not shipped"},
	{Image, "Base of the container images"},
	{BuildTool, "Run while building, not in what is built"},
	{DistOnly, "Linked into the program dist, which is not shipped"},
	{TestsOnly, "Linked into tests only, or required by the above on other systems or for their own tests"},
}

// rule sets off sections, thin what stands in them.
var (
	rule = strings.Repeat("=", 78)
	thin = strings.Repeat("-", 78)
)

// Notice returns the text of NOTICE for the given components.
func Notice(list []Component) []byte {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Component) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	fmt.Fprintf(&b, "The 1bit engine\n%s\nLicensed under the Apache License, Version 2.0; the text is in the file LICENSE.\n\n", header[0])
	fmt.Fprintf(&b, "The work of others that is used here follows, with its copyright and licence.\nThis file is generated from pins and go.mod by: dist notice write\n")
	for _, s := range sections {
		started := false
		for _, c := range list {
			if c.Use != s.use {
				continue
			}
			if !started {
				fmt.Fprintf(&b, "\n%s\n%s\n%s\n", rule, s.title, rule)
				started = true
			}
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Name+" "+c.Version))
			if c.What != "" {
				fmt.Fprintf(&b, "  What:      %s\n", c.What)
			}
			if c.Where != "" {
				fmt.Fprintf(&b, "  Where:     %s\n", c.Where)
			}
			if len(c.Copyright) == 0 {
				fmt.Fprintf(&b, "  Copyright: not stated by its files\n")
			}
			for i, line := range c.Copyright {
				label := "Copyright:"
				if i > 0 {
					label = "          "
				}
				fmt.Fprintf(&b, "  %s %s\n", label, line)
			}
			fmt.Fprintf(&b, "  Licence:   %s\n", c.License)
		}
	}
	texts(&b, list)
	return b.Bytes()
}

// texts appends the licences and notices that must go with the binary. Equal
// ones stand once.
func texts(b *bytes.Buffer, list []Component) {
	var order []string
	names := map[string][]string{}
	for _, c := range list {
		if c.Use != Linked {
			continue
		}
		for _, t := range c.Texts {
			if names[t.Body] == nil {
				order = append(order, t.Body)
			}
			names[t.Body] = append(names[t.Body], t.Name)
		}
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\nLicences and notices of what is linked into 1bit\n%s\n", rule, rule)
	for _, body := range order {
		fmt.Fprintf(b, "\n%s\n%s\n\n%s\n", strings.Join(names[body], "\n"), thin, body)
	}
}

// CheckNotice compares the file NOTICE at root with what it should be and
// returns the difference as a unified diff, empty when there is none.
func CheckNotice(ctx context.Context, root string) (string, error) {
	want, have, err := notices(ctx, root)
	if err != nil || bytes.Equal(have, want) {
		return "", err
	}
	return string(diff.Diff("NOTICE", have, "NOTICE as generated", want)), nil
}

// WriteNotice writes NOTICE at root and reports whether it changed.
func WriteNotice(ctx context.Context, root string) (changed bool, err error) {
	want, have, err := notices(ctx, root)
	if err != nil || bytes.Equal(have, want) {
		return false, err
	}
	path := filepath.Join(root, "NOTICE")
	if have == nil {
		return true, os.WriteFile(path, want, 0o666)
	}
	return true, replace(path, want)
}

func notices(ctx context.Context, root string) (want, have []byte, err error) {
	list, err := Components(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	have, err = os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, err
	}
	return Notice(list), have, nil
}
