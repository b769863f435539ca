// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/1bit-MONSTER/engine/internal/keyfile"
)

// A Signer signs records.
type Signer struct {
	key ed25519.PrivateKey
	id  string
}

// LoadSigner reads the key from a file as package keyfile has it.
func LoadSigner(path string) (*Signer, error) {
	key, err := keyfile.Read(path)
	if err != nil {
		return nil, err
	}
	id, err := keyID(key.Public().(ed25519.PublicKey))
	return &Signer{key, id}, err
}

func (s *Signer) sign(payload []byte) dsse.Signature {
	return dsse.Signature{KeyID: s.id, Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, dsse.PAE(RecordType, payload)))}
}

// keyID names a public key: the sha256 of its DER form.
func keyID(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
