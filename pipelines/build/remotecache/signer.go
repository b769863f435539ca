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
	"fmt"
	"io"
	"os"

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
	data, err := readSmall(path)
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

// maxFile is the most bytes of a file that names or is a key.
const maxFile = 1 << 20

// readSmall reads a file that may be a pipe, as long as it ends.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return data, err
}

func (s *Signer) sign(payload []byte) signature {
	return signature{s.id, base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, preAuth(payload)))}
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
