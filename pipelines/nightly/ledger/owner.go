// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/filelock"
)

// owner returns who claims are by: this cache on this machine. It is made of a
// random number that the cache keeps and of what tells machines apart, so that
// a cache that was copied to another machine is somebody else there. Nothing
// about the machine can be told from it.
func (l *Ledger) owner(ctx context.Context) (string, error) {
	if err := os.MkdirAll(l.dir(), 0o777); err != nil {
		return "", err
	}
	lock, err := filelock.Wait(ctx, l.dir("owner.lock"), nil)
	if err != nil {
		return "", err
	}
	defer lock.Unlock()
	own, err := os.ReadFile(l.dir("owner"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(own) == 0 {
		own = []byte(rand.Text() + "\n")
		err = atomicfile.Write(l.dir("owner"), own, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("who this machine is: %w", err)
	}
	host, _ := os.Hostname()
	machine, _ := os.ReadFile("/etc/machine-id") // not everywhere
	sum := sha256.Sum256(fmt.Appendf(own, "%q %q", host, machine))
	return hex.EncodeToString(sum[:8]), nil
}
