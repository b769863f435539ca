// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"path"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/elfcheck"
)

// A Tied says which programs and libraries of a component know where they were
// built, or look for libraries elsewhere than beside themselves.
type Tied struct {
	Component string
	Findings  []elfcheck.Finding
}

func (e *Tied) Error() string {
	const most = 5
	var list []string
	for _, f := range e.Findings[:min(len(e.Findings), most)] {
		list = append(list, f.String())
	}
	if more := len(e.Findings) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s: what it made is tied to where it was built (%s): map paths with -ffile-prefix-map, and give only $ORIGIN as a library search path", e.Component, strings.Join(list, "; "))
}

// hostPlaces are the folders of this machine where a build happens.
func (b *Builder) hostPlaces() []string {
	return []string{b.Store.Dir() + "/", b.Cache.path("go") + "/"}
}

// checkPlaces looks at every ELF file of what a recipe made: none may name the
// fixed paths of its sources and its build or a folder of the machine, and
// none may have a library search path but $ORIGIN. Without a sandbox the fixed
// paths are not there, and no flag of the recipe maps the host's: then only
// the search paths are looked at. Such an output is never released.
func checkPlaces(c *PlannedComponent, dir string, host []string) error {
	var forbidden []string
	if c.Inputs.Space != NoSandbox {
		forbidden = append(host, WorkDir+"/")
		for _, pin := range c.Recipe.Pins {
			forbidden = append(forbidden, path.Join(sourceDir, pin)+"/")
		}
		if c.Recipe.WorkTree != "" {
			forbidden = append(forbidden, engineDir+"/")
		}
	}
	findings, _, err := elfcheck.Folder(dir, forbidden)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	if len(findings) > 0 {
		return &Tied{c.Name, findings}
	}
	return nil
}
