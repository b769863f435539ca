// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"io"
)

// JSON writes the page for programs: what HTML shows, in the same order, with
// Schema beside it.
func (p *Page) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Schema int `json:"schema"`
		*Page
	}{Schema, p.clean()})
}
