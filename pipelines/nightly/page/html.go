// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// policy lets the page load nothing, run nothing and send nothing; the only
// style is the one whose sum it names.
func policy(css string) string {
	sum := sha256.Sum256([]byte(css))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"count": count,
	"icon": func(v verdict.Verdict) template.HTML {
		return template.HTML(`<svg viewBox="0 0 12 12" aria-hidden="true" focusable="false"><use href="#m-` + string(markOf(v).Verdict) + `"/></svg>`)
	},
}).Parse(pageHTML))

// HTML writes the page as one file that needs no other.
func (p *Page) HTML(w io.Writer) error {
	v := view(p.clean())
	return pageTemplate.Execute(w, struct {
		*shown
		Policy string
		Style  template.CSS
		Marks  []mark
	}{v, policy(pageCSS), template.CSS(pageCSS), marks})
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
