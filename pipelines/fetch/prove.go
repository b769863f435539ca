// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// Prove reads the content and the inputs that a pin's lock names again and
// compares them with its sums. What the store itself says about its entries is
// no proof: who changed the one could change the other.
func (e *Engine) Prove(ctx context.Context, p *pins.Pin) error {
	if err := e.verify(ctx, p); err != nil {
		return err
	}
	entries, err := e.Content(ctx, p)
	if err != nil {
		return err
	}
	inputs, err := e.FetchInputs(ctx, p)
	if err != nil {
		return wrap(p, err)
	}
	for _, x := range append(entries, inputs...) {
		if err := e.proof(p, x); err != nil {
			return wrap(p, err)
		}
	}
	return nil
}

// proof holds the content of an entry against its key.
func (e *Engine) proof(p *pins.Pin, x *store.Entry) error {
	if d := e.Store.Verify(x.Key); d != nil {
		return verdict.Failf("%s in the store was changed (%s)", shown(x.Name), shown(strings.Join(d.Why, ", ")))
	}
	if own, err := store.KeyOf(x.Sum); err == nil && own == x.Key {
		return nil
	}
	sum, err := store.KeyOf(p.Lock.Sum)
	isSource := err == nil && sum == x.Key
	switch {
	case isSource && p.Track.Kind == pins.GoModule:
		got, err := dirhash.HashDir(x.Path, p.Track.Module+"@"+p.Lock.Version, dirhash.Hash1)
		if err != nil || got == p.Lock.Sum {
			return err
		}
	case isSource:
		// With submodules, or without what is excluded, as only its lock knows.
		return CheckFolder(x.Path, p.Lock.Sum, p.Lock.Submodules, p.Lock.Excluded)
	case p.Lock.Digest != "":
		return checkLayout(x.Path, p.Lock.Digest)
	case inputOf(p, x.Key) == pins.InputGit:
		return nil // its own submodules are written down nowhere
	}
	return verdict.Failf("%s in the store is not what %s stands for", shown(x.Name), x.Key)
}

// inputOf returns the kind of the input that an entry is.
func inputOf(p *pins.Pin, key store.Key) pins.InputKind {
	for _, in := range p.Lock.Inputs {
		if k, err := store.KeyOf(in.Sum); err == nil && k == key {
			return in.Kind
		}
	}
	return ""
}
