// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
)

// A Sum is one hash of an integrity text.
type Sum struct {
	Algorithm string // sha512, sha384, sha256 or sha1
	Value     []byte
}

// strength orders the algorithms; the strongest one present counts, as in the
// specification of Subresource Integrity.
var strength = map[string]int{"sha1": 1, "sha256": 2, "sha384": 3, "sha512": 4}

var hashes = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

// An Integrity is what a lock file says of a tarball: one of these sums must
// be right. They have one algorithm, the strongest that was given.
type Integrity []Sum

// ParseIntegrity reads an integrity text such as "sha512-…== sha1-…=". Options
// after ? and algorithms that are not known are passed over; none left is an
// error.
func ParseIntegrity(s string) (Integrity, error) {
	var list Integrity
	for _, word := range strings.Fields(s) {
		alg, value, ok := strings.Cut(word, "-")
		alg = strings.ToLower(alg)
		if !ok || strength[alg] == 0 {
			continue
		}
		value, _, _ = strings.Cut(value, "?")
		sum, err := base64.StdEncoding.Strict().DecodeString(value)
		if err != nil || len(sum) != hashes[alg]().Size() {
			return nil, fmt.Errorf("%q is no %s sum", word, alg)
		}
		if len(list) > 0 {
			if strength[alg] < strength[list[0].Algorithm] {
				continue
			}
			if strength[alg] > strength[list[0].Algorithm] {
				list = nil
			}
		}
		list = append(list, Sum{alg, sum})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%q has no sha512, sha384, sha256 or sha1 sum", s)
	}
	return list, nil
}

// Hex is the sum as hex digits.
func (s Sum) Hex() string { return hex.EncodeToString(s.Value) }

// String is the sum as an integrity text.
func (s Sum) String() string { return s.Algorithm + "-" + base64.StdEncoding.EncodeToString(s.Value) }

func (i Integrity) String() string {
	words := make([]string, len(i))
	for n, s := range i {
		words[n] = s.String()
	}
	return strings.Join(words, " ")
}

// Weak reports whether the only sum is SHA-1, which no longer holds against an
// attacker who made both files.
func (i Integrity) Weak() bool { return len(i) == 0 || i[0].Algorithm == "sha1" }

// Verify reads r to its end and returns the sum that is right. name is for the
// error, which is a *Mismatch or the reader's.
func (i Integrity) Verify(name string, r io.Reader) (Sum, error) {
	if len(i) == 0 {
		return Sum{}, fmt.Errorf("%s has no integrity", name)
	}
	h := hashes[i[0].Algorithm]()
	if _, err := io.Copy(h, r); err != nil {
		return Sum{}, fmt.Errorf("%s: %w", name, err)
	}
	have := Sum{i[0].Algorithm, h.Sum(nil)}
	for _, s := range i {
		if bytes.Equal(s.Value, have.Value) {
			return s, nil
		}
	}
	return Sum{}, &Mismatch{name, i.String(), have.String()}
}
