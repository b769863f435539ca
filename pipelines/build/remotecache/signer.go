// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"os"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Signer signs records.
type Signer struct {
	key ed25519.PrivateKey
	id  string
}

// LoadSigner reads an ed25519 key from a PEM file ("PRIVATE KEY", PKCS 8), as
// openssl genpkey -algorithm ed25519 writes it.
func LoadSigner(path string) (*Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, verdict.Usagef("the key that signs outputs: %v", err)
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, verdict.Usagef("%s is no private key in PEM: make one with 'openssl genpkey -algorithm ed25519'", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, verdict.Usagef("%s is no ed25519 key: make one with 'openssl genpkey -algorithm ed25519'", path)
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
