// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
)

const keyPrefix = "ed25519:"

// PublicText returns a public key as ci/trust/runners.yaml has it. The private
// half is in a file of package keyfile.
func PublicText(key ed25519.PublicKey) string {
	return keyPrefix + base64.StdEncoding.EncodeToString(key)
}

func parsePublic(s string) (ed25519.PublicKey, bool) {
	rest, ok := strings.CutPrefix(s, keyPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(rest)
	return raw, ok && err == nil && len(raw) == ed25519.PublicKeySize
}
