// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"io"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
)

// The files that Write leaves.
const (
	HTMLFile     = "index.html"
	JSONFile     = "nightly.json"
	MarkdownFile = "summary.md"
)

// Write writes the page in its three forms into dir, which it makes where there
// is none. Each file is replaced as a whole.
func (p *Page) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		fill func(io.Writer) error
	}{{HTMLFile, p.HTML}, {JSONFile, p.JSON}, {MarkdownFile, p.Markdown}} {
		if err := atomicfile.Create(filepath.Join(dir, f.name), 0o644, f.fill); err != nil {
			return err
		}
	}
	return nil
}
