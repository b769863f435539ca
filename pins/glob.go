// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"path"
	"strings"
)

// MatchGlob reports whether a path of a tree matches a glob as contracts use
// it: as path.Match for each part, and ** for any number of folders, or at the
// end for everything below.
func MatchGlob(glob, name string) bool {
	return matchParts(strings.Split(glob, "/"), strings.Split(name, "/"))
}

func matchParts(glob, name []string) bool {
	for i, g := range glob {
		if g == "**" {
			rest := glob[i+1:]
			if len(rest) == 0 {
				return len(name) > i
			}
			for j := i; j < len(name); j++ {
				if matchParts(rest, name[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(name) {
			return false
		}
		if ok, err := path.Match(g, name[i]); err != nil || !ok {
			return false
		}
	}
	return len(name) == len(glob)
}
