// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"encoding/json"
	"time"

	"github.com/1bit-MONSTER/engine/internal/store"
)

// A Remote is a cache of outputs that machines share. It never fails a build:
// whatever goes wrong with it, it tells the user, and the component is built
// here. Only outputs of the space Sandboxed come from it or go there.
// Implementations are safe for use by several goroutines.
type Remote interface {
	// Pull makes the output as the folder dir, which is not there yet and
	// whose parent is a folder for this work alone, and says where it came
	// from. Where it returns false, dir is not there.
	Pull(ctx context.Context, want Wanted, dir string) (from string, ok bool)
	// Push offers an output that was made here.
	Push(ctx context.Context, o Offered)
}

// Wanted is an output that the store does not have.
type Wanted struct {
	Key    store.Key
	Recipe string
	Check  func(dir string) error // says what is wrong with a folder as this output
}

// Offered is an output in the store.
type Offered struct {
	Entry *store.Entry
	Files []store.File
	Time  time.Time // of everything in it
}

// originMeta is the name in an entry's record of where it was pulled from. One
// that has it was not made here.
const originMeta = "pulled-from"

// pull asks the remote cache for a component and makes it as the folder dir.
func (b *Builder) pull(ctx context.Context, c *PlannedComponent, dir string) (from string, ok bool) {
	if b.Remote == nil || c.Inputs.Space != Sandboxed {
		return "", false
	}
	return b.Remote.Pull(ctx, Wanted{Key: c.Key, Recipe: c.Name, Check: func(dir string) error {
		if err := checkOutputs(c.Recipe, dir); err != nil {
			return err
		}
		return checkPlaces(c, dir, b.hostPlaces())
	}}, dir)
}

// offer gives an entry of the store to the remote cache, if it was made here
// with all walls around it.
func offer(ctx context.Context, r Remote, st *store.Store, key store.Key) {
	if r == nil {
		return
	}
	e, err := st.Get(key)
	if err != nil {
		return // somebody removed it
	}
	var in Inputs
	if json.Unmarshal([]byte(e.Meta["inputs"]), &in) != nil || in.Space != Sandboxed || e.Meta["space"] != string(Sandboxed) || e.Meta[originMeta] != "" {
		return
	}
	if own, err := in.Key(); err != nil || own != key {
		return // its record is not that of what went in
	}
	files, err := st.Files(key)
	if err != nil {
		return
	}
	r.Push(ctx, Offered{Entry: e, Files: files, Time: time.Unix(in.Epoch, 0).UTC()})
}
