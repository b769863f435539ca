// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch/declared"
)

// A declaredPlace is where a download that a file declares comes from. Versions, sums
// and lines do not count: a person who found a download to be not needed said so
// of the download, not of its version.
type declaredPlace struct {
	kind, scope, name, url, command string
}

// renewUnused takes unused inputs over to a new lock although the files that
// declare them changed, where those declare nothing that they did not declare
// before; one whose file declares nothing any more is left out. Whatever
// declares something new asks a person again, and so does everything where the
// old source cannot be looked at. A build has no network: what is wrongly unused
// fails there.
//
// p has the old lock, q the new one with the inputs of the old.
func (e *Engine) renewUnused(ctx context.Context, p, q *pins.Pin) (inputs []pins.Input, notes []string) {
	inputs = q.Lock.Inputs
	if !hasUnused(inputs) || !commits(p) || p.Lock == nil || p.Lock.Commit == q.Lock.Commit {
		return inputs, nil
	}
	before, _, err := e.Downloads(ctx, p)
	if err != nil {
		return inputs, nil // LockInputs asks
	}
	after, _, err := e.Downloads(ctx, q)
	if err != nil {
		return inputs, nil
	}
	old, _ := placesByFile(before)
	now, sums := placesByFile(after)
	inputs = nil
	for _, in := range q.Lock.Inputs {
		file := in.DeclaredIn
		switch {
		case in.Kind != pins.InputUnused || sums[file] == in.SHA256:
		case len(now[file]) == 0 && len(old[file]) > 0:
			notes = append(notes, fmt.Sprintf("input %s is left out: %s declares no download any more", shown(in.Name), shown(file)))
			continue
		case len(now[file]) > 0 && declaresOnly(now[file], old[file]):
			in.SHA256 = sums[file]
			notes = append(notes, fmt.Sprintf("input %s is unused still: %s changed and declares nothing new", shown(in.Name), shown(file)))
		}
		inputs = append(inputs, in)
	}
	return inputs, notes
}

func hasUnused(inputs []pins.Input) bool {
	for _, in := range inputs {
		if in.Kind == pins.InputUnused {
			return true
		}
	}
	return false
}

// placesByFile returns where the downloads of each file come from, and the
// file's sha256.
func placesByFile(list []declared.Declared) (places map[string]map[declaredPlace]bool, sums map[string]string) {
	places, sums = map[string]map[declaredPlace]bool{}, map[string]string{}
	for _, d := range list {
		if places[d.File] == nil {
			places[d.File] = map[declaredPlace]bool{}
		}
		places[d.File][declaredPlace{string(d.Kind), string(d.Scope), d.Name, d.URL, d.Command}] = true
		sums[d.File] = d.SHA256
	}
	return places, sums
}

func declaresOnly(part, whole map[declaredPlace]bool) bool {
	for p := range part {
		if !whole[p] {
			return false
		}
	}
	return true
}
