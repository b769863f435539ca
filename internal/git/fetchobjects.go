// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
)

// maxLacking bounds how many absent objects FetchObjects learns of, because a
// remote names only one in each refusal.
const maxLacking = 200

// FetchObjects gets objects by id in one request, mostly blobs that a filter
// left out. Ids that are here already are not asked for. It uses the network.
//
// lacking are the ids that the remote does not have; for each there is one
// more request, at most 200, then the last refusal is the error: *Gone with
// the id as its commit. Other errors are those of LsRemote.
func (r *Repo) FetchObjects(ctx context.Context, remote Remote, ids []ID, progress Progress) (lacking []ID, err error) {
	t, err := remote.check()
	if err != nil {
		return nil, err
	}
	if err := check(ids...); err != nil {
		return nil, err
	}
	want := slices.Clone(ids)
	slices.Sort(want)
	if want, err = r.Missing(ctx, slices.Compact(want)); err != nil {
		return nil, err
	}
	args := []string{"-c", "fetch.negotiationAlgorithm=noop", "fetch", "--no-tags", "--no-write-fetch-head",
		"--no-auto-maintenance", "--recurse-submodules=no", "--filter=blob:none", "--stdin"}
	for len(want) > 0 {
		specs := make([]string, len(want))
		for i, id := range want {
			specs[i] = string(id)
		}
		err := r.runFetch(ctx, t, true, slices.Clone(args), specs, progress)
		var refused *refusedObject
		if !errors.As(err, &refused) {
			return lacking, err
		}
		i := slices.Index(want, refused.id)
		if i < 0 || len(lacking) >= maxLacking {
			return lacking, &Gone{t.shown, refused.id}
		}
		want = slices.Delete(want, i, i+1)
		lacking = append(lacking, refused.id)
	}
	return lacking, nil
}

// Missing returns those of the ids that are not in the object store, in the
// given order.
func (r *Repo) Missing(ctx context.Context, ids []ID) ([]ID, error) {
	var missing []ID
	err := r.Headers(ctx, ids, func(i int, h Header) error {
		if h.Kind == "" {
			missing = append(missing, ids[i])
		}
		return nil
	})
	return missing, err
}

func hasPromisorPack(dir string) bool {
	m, _ := filepath.Glob(filepath.Join(globQuote(dir), "objects", "pack", "pack-*.promisor"))
	return len(m) > 0
}

// globQuote makes a folder's name match only itself.
func globQuote(dir string) string {
	var b []byte
	for i := range len(dir) {
		if c := dir[i]; c == '*' || c == '?' || c == '[' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, dir[i])
	}
	return string(b)
}
