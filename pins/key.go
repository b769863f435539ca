// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"regexp"
	"strings"
)

// A Key is one that an upstream signs its tags or commits with: either an SSH
// public key, or a file with an OpenPGP one.
type Key struct {
	Who     string `yaml:"who" json:"who"`                   // whose it is, for people
	SSH     string `yaml:"ssh" json:"ssh,omitempty"`         // kind and base64, as in a .pub file, without its comment
	OpenPGP string `yaml:"openpgp" json:"openpgp,omitempty"` // an armoured file below TrustFolder
}

// TrustFolder is where the repository keeps the keys of others.
const TrustFolder = "ci/trust"

var sshKeyRE = regexp.MustCompile(`^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com) [A-Za-z0-9+/]{40,}={0,2}$`)

// signers checks the keys of a pin.
func (c *checker) signers(p *Pin) {
	if len(p.Keys) > 0 && !tagsOrCommits(p.Track.Kind) {
		c.problem("keys", "a %s pin has neither tags nor commits that could be signed", p.Track.Kind)
	}
	for i, k := range p.Keys {
		at := fmt.Sprintf("keys[%d]", i)
		c.oneLine(at+".who", k.Who, true)
		switch {
		case (k.SSH == "") == (k.OpenPGP == ""):
			c.problem(at, "a key is either ssh, with the public key, or openpgp, with the file that has it")
		case k.SSH != "":
			c.match(at+".ssh", k.SSH, sshKeyRE, "a public key as in a .pub file, without its comment")
		default:
			c.relative(at+".openpgp", k.OpenPGP)
			if !strings.HasPrefix(k.OpenPGP, TrustFolder+"/") {
				c.problem(at+".openpgp", "%q is not below %s", clip(k.OpenPGP), TrustFolder)
			}
		}
	}
}

// tagsOrCommits reports whether the versions of a kind are git objects of the
// upstream, which can be signed.
func tagsOrCommits(k Kind) bool {
	switch k {
	case GitBranch, GitTag, GithubRelease, Gitlink:
		return true
	}
	return false
}
