// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// knownLicenses are the SPDX ids that a pin may name: a typing error must not
// pass as a licence. Add one when an upstream needs it.
var knownLicenses = strings.Fields(`
0BSD Apache-2.0 Artistic-2.0 BSD-1-Clause BSD-2-Clause BSD-3-Clause BSL-1.0
CC-BY-4.0 CC-BY-SA-4.0 CC0-1.0 EPL-2.0 GPL-1.0-only GPL-1.0-or-later
GPL-2.0-only GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.0-only
LGPL-2.0-or-later LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only
LGPL-3.0-or-later AGPL-3.0-only AGPL-3.0-or-later MIT MIT-0 MPL-2.0 MS-PL
NCSA OpenSSL PSF-2.0 Python-2.0 Unicode-3.0 Unlicense WTFPL X11 Zlib`)

var knownExceptions = strings.Fields(`
Bison-exception-2.2 Classpath-exception-2.0 GCC-exception-3.1 GPL-CC-1.0
LLVM-exception Linux-syscall-note OpenSSL-exception`)

var spdxTokenRE = regexp.MustCompile(`[()]|[^\s()]+`)
var licenseRefRE = regexp.MustCompile(`^(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+$`)

// checkSPDX returns what is wrong with a licence expression: ids joined by
// AND, OR, WITH and parentheses. LicenseRef-… stands for a text of its own.
func checkSPDX(s string) error {
	if strings.TrimSpace(s) == "" {
		return fmt.Errorf("missing; want an SPDX expression such as MIT")
	}
	p := &spdxParser{tokens: spdxTokenRE.FindAllString(s, -1)}
	if len(p.tokens) > 200 {
		return fmt.Errorf("the expression is too long")
	}
	if err := p.expression(); err != nil {
		return fmt.Errorf("%q: %w", clip(s), err)
	}
	if p.next() != "" {
		return fmt.Errorf("%q: %q is not expected there", clip(s), clip(p.next()))
	}
	return nil
}

type spdxParser struct {
	tokens []string
	at     int
}

func (p *spdxParser) next() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

// expression is a term, and more of them after AND or OR.
func (p *spdxParser) expression() error {
	for {
		if err := p.term(); err != nil {
			return err
		}
		if p.next() != "AND" && p.next() != "OR" {
			return nil
		}
		p.at++
	}
}

func (p *spdxParser) term() error {
	token := p.next()
	p.at++
	if token == "(" {
		if err := p.expression(); err != nil {
			return err
		}
		if p.next() != ")" {
			return fmt.Errorf("a parenthesis is not closed")
		}
		p.at++
		return nil
	}
	if token == "" {
		return fmt.Errorf("a licence is missing at the end")
	}
	if !slices.Contains(knownLicenses, strings.TrimSuffix(token, "+")) && !licenseRefRE.MatchString(token) {
		return fmt.Errorf("%q is not a known SPDX licence", clip(token))
	}
	if p.next() == "WITH" {
		p.at++
		if exception := p.next(); !slices.Contains(knownExceptions, exception) {
			return fmt.Errorf("%q is not a known SPDX exception", clip(exception))
		}
		p.at++
	}
	return nil
}
