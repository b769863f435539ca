// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	const ed25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtpaTq0j3hUMx2mQ1J1cVt9mHj6mH9bU3xk0zJ6zJ6z"
	for _, c := range []struct {
		name, keys, kind, want string
	}{
		{"ssh", "keys: [{who: an author, ssh: '" + ed25519 + "'}]\n", "", ""},
		{"openpgp", "keys: [{who: an author, openpgp: ci/trust/author.asc}]\n", "", ""},
		{"nobody's", "keys: [{ssh: '" + ed25519 + "'}]\n", "", "keys[0].who: missing"},
		{"with a comment", "keys: [{who: a, ssh: '" + ed25519 + " me@example.com'}]\n", "", "without its comment"},
		{"with options", "keys: [{who: a, ssh: 'cert-authority " + ed25519 + "'}]\n", "", "without its comment"},
		{"two lines", "keys: [{who: a, ssh: \"" + ed25519 + "\\n" + ed25519 + "\"}]\n", "", "without its comment"},
		{"both", "keys: [{who: a, ssh: '" + ed25519 + "', openpgp: ci/trust/a.asc}]\n", "", "either ssh"},
		{"neither", "keys: [{who: a}]\n", "", "either ssh"},
		{"elsewhere", "keys: [{who: a, openpgp: /etc/key.asc}]\n", "", "not a clean path"},
		{"outside", "keys: [{who: a, openpgp: pins/key.asc}]\n", "", "not below ci/trust"},
		{"nothing to sign", "keys: [{who: a, openpgp: ci/trust/a.asc}]\n", "track: {kind: manual, reason: x}\n", "neither tags nor commits"},
	} {
		track := c.kind
		if track == "" {
			track = "track: {kind: git-branch, branch: main}\n"
		}
		p, err := Parse([]byte("name: a\nwhat: x\nupstream: https://example.org/a.git\nlicense: MIT\nuse: child\n"+track+c.keys), "pins/a.yaml")
		switch {
		case c.want == "" && (err != nil || len(p.Keys) != 1):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
