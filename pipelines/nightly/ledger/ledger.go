// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

const (
	// Branch is the name of the state branch.
	Branch = "nightly-state"
	// LocalRef is where our clone keeps what it last saw of it.
	LocalRef = "refs/dist/nightly-state"

	remoteRef = "refs/heads/" + Branch
)

// DefaultLease is how long the claim of a run on another machine counts: longer
// than a night takes, shorter than the time to the next one.
const DefaultLease = 6 * time.Hour

// Options say where a ledger is and what it may do.
type Options struct {
	Repo     *git.Repo  // our clone; it may be shallow, of a single branch, without blobs
	Remote   git.Remote // see RemoteOf
	TokenEnv string     // the variable that the credential came from, for sentences; may be empty
	// Mode: Live reads and pushes. DryRun reads, and adds only to files in the
	// cache that no live run looks at. Stopped only reads.
	Mode     round.Mode
	CacheDir string        // holds who we are, locks, and a dry run's events, in nightly/MODE
	Clock    clock.Clock   // nil: the machine's
	Lease    time.Duration // 0: DefaultLease
}

// A Ledger is the branch, as far as this run has seen it. Its methods may be
// used by several goroutines.
type Ledger struct {
	o       Options
	common  string // the git directory that all work trees of the clone share
	unknown error

	mu   sync.Mutex // one at a time looks at the remote or adds
	head git.ID     // empty: there is no branch
	// claimed are the locks of what this run claimed, by group.
	claimed map[string]*held

	notesMu sync.Mutex
	notes   []string
	said    map[string]bool
	headMu  sync.Mutex
}

// Open looks at the branch. Where it is not at the remote, nothing is
// remembered so far, which a note says. Where it cannot be read, that is the
// error of a live run, with the verdict infra; other runs go on with what this
// machine saw last, and Unknown says so.
func Open(ctx context.Context, o Options) (*Ledger, error) {
	switch o.Mode {
	case round.Live, round.DryRun, round.Stopped:
	default:
		return nil, verdict.Usagef("%s is no mode: use %s, %s or %s", quote(string(o.Mode)), round.DryRun, round.Live, round.Stopped)
	}
	if o.Clock == nil {
		o.Clock = clock.System
	}
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	common, err := o.Repo.Output(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	l := &Ledger{o: o, common: strings.TrimSuffix(string(common), "\n"), claimed: map[string]*held{}, said: map[string]bool{}}
	err = l.Refresh(ctx)
	if err == nil {
		return l, nil
	}
	if o.Mode == round.Live || ctx.Err() != nil {
		return nil, err
	}
	l.unknown = err
	head, err := l.localHead(ctx)
	if err != nil {
		return nil, err
	}
	l.setHead(head)
	return l, nil
}

// Close gives back the locks of claims. Claims that have not Ended stay: the
// next phase of the same night goes on with them.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for group := range l.claimed {
		l.release(group)
	}
	return nil
}

// Unknown returns why the state is not known, nil where it is. It is never set
// in a live run.
func (l *Ledger) Unknown() error { return l.unknown }

// Notes returns what people should know about the branch, in sentences that are
// safe to show: that it is not there yet, that it lost events, which lines were
// skipped.
func (l *Ledger) Notes() []string {
	l.notesMu.Lock()
	defer l.notesMu.Unlock()
	return slices.Clone(l.notes)
}

// note keeps a sentence, each only once.
func (l *Ledger) note(format string, args ...any) {
	s := inert.Line(fmt.Sprintf(format, args...), 500)
	l.notesMu.Lock()
	defer l.notesMu.Unlock()
	if !l.said[s] {
		l.said[s] = true
		l.notes = append(l.notes, s)
	}
}

// Groups returns the names of all groups that have events, sorted.
func (l *Ledger) Groups(ctx context.Context) ([]string, error) {
	r, head, err := l.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.cat.Close()
	_, events, err := r.root(head)
	if err != nil {
		return nil, wrap(err)
	}
	list := r.groups(events)
	if l.o.Mode == round.DryRun {
		more, err := l.overlayGroups()
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list, nil
}

// Memory returns what is remembered of a group; for a group without events it
// is empty.
func (l *Ledger) Memory(ctx context.Context, group string) (*Memory, error) {
	r, head, err := l.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.cat.Close()
	return l.memory(r, head, group)
}

// Memories returns what is remembered of every group, by name.
func (l *Ledger) Memories(ctx context.Context) (map[string]*Memory, error) {
	groups, err := l.Groups(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Memory, len(groups))
	var mu sync.Mutex
	next := make(chan string, len(groups))
	for _, g := range groups {
		next <- g
	}
	close(next)
	work, ctx := errgroup.WithContext(ctx)
	for range min(len(groups), runtime.GOMAXPROCS(0)) {
		work.Go(func() error {
			r, head, err := l.reader(ctx)
			if err != nil {
				return err
			}
			defer r.cat.Close()
			for g := range next {
				m, err := l.memory(r, head, g)
				if err != nil {
					return err
				}
				mu.Lock()
				all[g] = m
				mu.Unlock()
			}
			return nil
		})
	}
	return all, work.Wait()
}

func (l *Ledger) memory(r *reader, head git.ID, group string) (*Memory, error) {
	if !nameRE.MatchString(group) {
		return nil, fmt.Errorf("%s is no name of a group", quote(group))
	}
	events, err := r.events(head, group)
	if err != nil {
		return nil, wrap(err)
	}
	sources := [][]Event{events}
	if l.o.Mode == round.DryRun {
		own, err := l.overlayEvents(group)
		if err != nil {
			return nil, err
		}
		sources = append(sources, own)
	}
	return fold(group, l.o.Clock(), sources...), nil
}

// reader returns what reads the branch as it is now; its cat must be closed.
func (l *Ledger) reader(ctx context.Context) (*reader, git.ID, error) {
	cat, err := l.o.Repo.CatFile(ctx)
	if err != nil {
		return nil, "", err
	}
	l.headMu.Lock()
	defer l.headMu.Unlock()
	return &reader{cat, l.note}, l.head, nil
}

func (l *Ledger) setHead(id git.ID) {
	l.headMu.Lock()
	defer l.headMu.Unlock()
	l.head = id
}

// dir is where this run's mode keeps its files: no mode sees another's.
func (l *Ledger) dir(names ...string) string {
	return filepath.Join(append([]string{l.o.CacheDir, "nightly", string(l.o.Mode)}, names...)...)
}
