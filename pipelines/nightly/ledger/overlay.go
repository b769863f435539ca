// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// What a dry run remembers is a file a group in the cache, of the same lines as
// on the branch. Only dry runs look at it.

func (l *Ledger) overlayFile(group string) string { return l.dir(eventsDir, group+".jsonl") }

func (l *Ledger) overlayGroups() ([]string, error) {
	entries, err := os.ReadDir(l.dir(eventsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok && nameRE.MatchString(name) {
			list = append(list, name)
		}
	}
	return list, nil
}

// DryRuns says whether dry runs on this machine add to what is remembered. Of a
// live run they never do.
func (l *Ledger) DryRuns() (bool, error) {
	if l.o.Mode != round.DryRun {
		return false, nil
	}
	groups, err := l.overlayGroups()
	return len(groups) > 0, err
}

func (l *Ledger) overlayEvents(group string) ([]Event, error) {
	content, err := l.overlayContent(group)
	if err != nil {
		return nil, err
	}
	return parse(nil, content, l.overlayFile(group), group, l.note), nil
}

func (l *Ledger) overlayContent(group string) ([]byte, error) {
	content, err := os.ReadFile(l.overlayFile(group))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

func (l *Ledger) appendOverlay(ctx context.Context, group string, check func(*Memory) error, lines []written) error {
	if err := os.MkdirAll(l.dir(eventsDir), 0o777); err != nil {
		return err
	}
	lock, err := filelock.Wait(ctx, l.dir("events.lock"), nil)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if check != nil {
		m, err := l.Memory(ctx, group)
		if err != nil {
			return err
		}
		if err := check(m); err != nil {
			return err
		}
	}
	contents := map[string][]byte{}
	var order []string
	for _, w := range lines {
		if !slices.Contains(order, w.Group) {
			order = append(order, w.Group)
			if contents[w.Group], err = l.overlayContent(w.Group); err != nil {
				return err
			}
		}
		contents[w.Group] = appendLine(contents[w.Group], w.line)
	}
	for _, g := range order {
		// Whole files are replaced, so that a reader never sees half a line.
		if err := atomicfile.Write(l.overlayFile(g), contents[g], 0o644); err != nil {
			return err
		}
	}
	return nil
}
