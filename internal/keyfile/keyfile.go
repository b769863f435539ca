// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package keyfile keeps ed25519 keys that sign, each in a PEM file of its own
// ("PRIVATE KEY", PKCS #8), as openssl genpkey -algorithm ed25519 writes it. It is
// for runners that sign evidence and builders that sign outputs. A key is not
// encrypted: the file's mode is what guards it.
package keyfile

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

const pemType = "PRIVATE KEY" // PKCS #8

// New makes a key, writes it to a file that was not there, readable by its owner
// alone, and returns the public half. The private half is nowhere else.
func New(path string) (ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	err = pem.Encode(f, &pem.Block{Type: pemType, Bytes: der})
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("key: %w", err)
	}
	return public, nil
}

// maxKey is more than any file with an ed25519 key has, in bytes.
const maxKey = 4096

// Read reads a key. A file that others may read is refused: who has the key can
// sign. No error has a part of the file's content.
func Read(path string) (ed25519.PrivateKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, verdict.Usagef("the file of a key cannot be read: %v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, verdict.Usagef("key %s: it is not a file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, verdict.Usagef("key %s: others may read or write it (%04o): chmod 600 it, and make a new key if they could", path, mode)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	block, rest := pem.Decode(data)
	if block == nil || block.Type != pemType || len(block.Headers) > 0 || strings.TrimSpace(string(rest)) != "" {
		return nil, verdict.Usagef("key %s: it is not one PEM block with a %s: make one with 'openssl genpkey -algorithm ed25519'", path, pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if key, ok := parsed.(ed25519.PrivateKey); err == nil && ok {
		return key, nil
	}
	return nil, verdict.Usagef("key %s: it is not an ed25519 key in PKCS #8: make one with 'openssl genpkey -algorithm ed25519'", path)
}
