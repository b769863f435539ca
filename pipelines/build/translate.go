// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"regexp"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
)

// fixedPath is one of the fixed paths where it begins an argument, or a part
// of one.
var fixedPath = regexp.MustCompile(`(^|[=:, ])(/src|/inputs|/in|/build|/out|/go|/mod)(/[^=:, ]*)?`)

// translate rewrites a step for running without a sandbox, where the fixed
// paths are not there: each becomes the place on the host that is shown at it.
func translate(s sandbox.Spec) sandbox.Spec {
	host := func(p string) string {
		if outside, shown := s.Outside(p); shown {
			return outside
		}
		return p
	}
	rewrite := func(list []string) []string {
		out := make([]string, len(list))
		for i, a := range list {
			out[i] = fixedPath.ReplaceAllStringFunc(a, func(m string) string {
				at := strings.IndexByte(m, '/')
				return m[:at] + host(m[at:])
			})
		}
		return out
	}
	s.Args, s.Env, s.Work = rewrite(s.Args), rewrite(s.Env), host(s.Work)
	return s
}
