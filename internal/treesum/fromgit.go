// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package treesum

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// workers is the number of git processes that inflate blobs side by side.
const workers = 2

// Options say what FromGit does with what is not a file.
type Options struct {
	Submodules map[string]string // path → the submodule's own sum
	Exclude    []string          // exact paths of files or submodules
	Limits     git.Limits
}

// A Result is a sum and what was found on the way.
type Result struct {
	Sum      string
	Files    int        // files and symbolic links that were summed
	Bytes    int64      // their content; a blob that occurs twice counts twice
	Excluded []Excluded // sorted by path
	Twins    [][]string // see git.TreeReport
}

// FromGit sums a tree from its objects; id is a tree's, not a commit's. The
// tree passes git.CheckTree first. Memory does not depend on the size of the
// files but where git itself needs it: it inflates a blob below 8 MiB, or one
// that is stored as a delta, in one piece.
//
// Errors: *git.UnsafeTree, *MissingBlob, *MissingSubmodule, *Unused,
// *git.MissingObject for a tree.
func FromGit(ctx context.Context, repo *git.Repo, id git.ID, o Options) (*Result, error) {
	report, err := repo.CheckTree(ctx, id, o.Limits)
	if err != nil {
		return nil, err
	}
	res := &Result{Twins: report.Twins}
	lines := make([]line, 0, len(report.Entries))
	left := make(map[string]bool)
	for _, p := range o.Exclude {
		left[p] = true
	}
	for p := range o.Submodules {
		left[p] = true
	}
	// Lines that wait for a blob, by the blob: many paths may share it.
	waiting := make(map[git.ID][]int, len(report.Entries))
	var blobs, sizes []git.ID
	var sized []int // which exclusion each of sizes is
	for _, e := range report.Entries {
		switch sub, known := o.Submodules[e.Path]; {
		case slices.Contains(o.Exclude, e.Path):
			x := Excluded{Path: e.Path, Mode: e.Mode, ID: e.ID}
			res.Excluded = append(res.Excluded, x)
			if e.Mode != git.ModeSubmodule {
				sizes, sized = append(sizes, e.ID), append(sized, len(res.Excluded)-1)
			}
			lines = append(lines, excludedLine(x))
			delete(left, e.Path)
		case e.Mode == git.ModeSubmodule && !known:
			return nil, &MissingSubmodule{e.Path, e.ID}
		case e.Mode == git.ModeSubmodule:
			l, err := submoduleLine(e.Path, sub)
			if err != nil {
				return nil, err
			}
			lines = append(lines, l)
			delete(left, e.Path)
		default:
			if len(waiting[e.ID]) == 0 {
				blobs = append(blobs, e.ID)
			}
			waiting[e.ID] = append(waiting[e.ID], len(lines))
			lines = append(lines, line{name: entryName(e.Mode, e.Path)})
			res.Files++
		}
	}
	if len(left) > 0 {
		return nil, &Unused{slices.Sorted(maps.Keys(left))}
	}
	err = repo.Headers(ctx, sizes, func(i int, h git.Header) error {
		res.Excluded[sized[i]].Size = h.Size
		return nil
	})
	if err != nil {
		return nil, err
	}
	if res.Bytes, err = digestBlobs(ctx, repo, blobs, waiting, lines); err != nil {
		return nil, err
	}
	res.Sum, err = sum(lines)
	return res, err
}

// digestBlobs fills in the digests. The workers take portions that are
// contiguous by path: neighbours are often deltas of each other.
func digestBlobs(ctx context.Context, repo *git.Repo, blobs []git.ID, waiting map[git.ID][]int, lines []line) (int64, error) {
	chunks := git.Chunks(blobs)
	var bytes atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(workers, len(chunks)) {
		group.Go(func() error {
			var d digester
			return repo.Contents(ctx, chunks, func(id git.ID, h git.Header, content io.Reader) error {
				path := lines[waiting[id][0]].name[len("100644 "):]
				switch h.Kind {
				case "":
					return &MissingBlob{path, id}
				case "blob":
				default:
					return fmt.Errorf("%+q: %w", path, &git.WrongKind{ID: id, Kind: h.Kind, Want: "blob"})
				}
				digest, err := d.of(content)
				for _, n := range waiting[id] {
					lines[n].digest = digest
				}
				bytes.Add(h.Size * int64(len(waiting[id])))
				return err
			})
		})
	}
	err := group.Wait()
	return bytes.Load(), err
}
