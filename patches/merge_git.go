// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/run"
)

// merged is what git says about one merge. With conflicts the tree holds
// conflict markers, with all three sides.
type merged struct {
	tree     git.ID
	conflict bool
	stages   []git.Stage // a few kinds of conflict have none
	messages []mergeMessage
}

func (m *merged) clean() bool { return !m.conflict }

// files are the paths in conflict, in git's order, each once.
func (m *merged) files() []string {
	var files []string
	for _, s := range m.stages {
		if len(files) == 0 || files[len(files)-1] != s.Path {
			files = append(files, s.Path)
		}
	}
	return files
}

type mergeMessage struct {
	kind string // such as "CONFLICT (contents)"
	text string
}

// A merger asks one long-lived git merge-tree, or one process a merge where
// that does not answer before its input ends.
//
// merge-tree --stdin keeps its answers in a buffer of stdio's until that is
// full. Every question is therefore followed by a merge whose answer is longer
// than the buffer: a conflict of a file with a very long path. It pushes the
// real answer out, on any system and without a terminal or a preloaded library.
type merger struct {
	repo    *git.Repo
	p       *run.Process // nil: one process a merge
	in      *bufio.Reader
	padding string // the two commits that push
	owed    int    // answers to paddings that were not read yet
	count   int    // merges that git did, paddings not counted
	broken  bool   // its error was returned already
}

// mergeArgs are the settings of every merge, whatever newer versions of git
// take for their defaults.
var mergeArgs = [...]string{
	"-c", "merge.conflictStyle=diff3", // the base belongs to a conflict's identity
	"-c", "core.looseCompression=0",
	"-c", "core.fsync=none",
	"-c", "core.fsyncMethod=writeout-only",
	"-c", "attr.tree=" + string(git.EmptyTree), // newer gits read attributes from a bare HEAD
	"merge-tree", "--write-tree", "--stdin", "-z",
}

// askLimit is how long the first answer may take. It is only about whether git
// answers at all: on a busy machine the slower way is taken, with the same
// results.
const askLimit = 5 * time.Second

func newMerger(ctx context.Context, s *scratch, spawn bool) (*merger, error) {
	m := &merger{repo: s.Repo}
	if spawn {
		return m, nil
	}
	a, b, err := longConflict(s)
	if err != nil {
		return nil, err
	}
	m.padding = string(a) + " " + string(b) + "\n"
	if m.p, err = s.Command(mergeArgs[:]...).Start(ctx); err != nil {
		return nil, err
	}
	m.in = bufio.NewReaderSize(m.p.Stdout, 64<<10)
	answered := make(chan error, 1)
	go func() {
		_, err := m.ask(a, a)
		answered <- err
	}()
	limit := time.NewTimer(askLimit)
	defer limit.Stop()
	select {
	case err := <-answered:
		if err == nil {
			m.count = 0
			return m, nil
		}
	case <-limit.C:
	}
	m.p.Kill()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &merger{repo: s.Repo}, nil
}

// longConflict makes two commits whose merge takes git more than 7,000 bytes
// to describe.
func longConflict(s *scratch) (a, b git.ID, err error) {
	// No file system sees this name.
	name := strings.Repeat("p", 1500)
	who := git.Signature{Name: "padding", Email: "padding@localhost", When: time.Unix(0, 0).UTC()}
	at := func(text string, parents ...git.ID) (git.ID, error) {
		tree := git.EmptyTree
		if text == "" {
			if _, err := s.write("tree", nil); err != nil {
				return "", err
			}
		} else {
			id, err := s.write("blob", []byte(text))
			if err != nil {
				return "", err
			}
			content, err := git.FormatTree([]git.TreeEntry{{Mode: git.ModeFile, Name: name, ID: id}})
			if err != nil {
				return "", err
			}
			if id, err = s.write("tree", content); err != nil {
				return "", err
			}
			tree = id
		}
		return s.commit(git.Commit{Tree: tree, Parents: parents, Author: who, Committer: who, Message: "padding\n"})
	}
	base, err := at("base")
	if err == nil {
		if a, err = at("changed", base); err == nil {
			b, err = at("", base)
		}
	}
	return a, b, err
}

// merge merges two commits over their merge base.
func (m *merger) merge(ctx context.Context, ours, theirs git.ID) (*merged, error) {
	m.count++
	if m.p != nil {
		return m.ask(ours, theirs)
	}
	c := m.repo.Command(mergeArgs[:]...)
	c.Stdin = strings.NewReader(string(ours) + " " + string(theirs) + "\n")
	r, err := c.Run(ctx)
	if err != nil {
		return nil, mergeError(ours, theirs, err)
	}
	out, err := readMerged(bufio.NewReader(strings.NewReader(string(r.Stdout))))
	if err != nil {
		return nil, mergeError(ours, theirs, err)
	}
	return out, nil
}

func (m *merger) ask(ours, theirs git.ID) (*merged, error) {
	_, err := io.WriteString(m.p.Stdin, string(ours)+" "+string(theirs)+"\n"+m.padding)
	for ; err == nil && m.owed > 0; m.owed-- {
		_, err = readMerged(m.in)
	}
	var out *merged
	if err == nil {
		out, err = readMerged(m.in)
	}
	if err != nil {
		if e := m.p.Close(); e != nil {
			err = e // what git said is better than a broken pipe
		}
		m.broken = true
		return nil, mergeError(ours, theirs, err)
	}
	m.owed = 1
	return out, nil
}

func mergeError(ours, theirs git.ID, err error) error {
	return fmt.Errorf("merge %s and %s: %w", ours.Short(), theirs.Short(), err)
}

func (m *merger) close() error {
	if m.p == nil || m.broken {
		return nil
	}
	return m.p.Close()
}

// readMerged reads one answer of merge-tree --stdin -z: a digit (1 is clean),
// the tree, then for a conflict the stages, an empty field, the messages (each
// a count, so many paths, a kind and a text); an empty field ends it.
func readMerged(in *bufio.Reader) (*merged, error) {
	field := func() (string, error) {
		s, err := in.ReadString(0)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
		return s[:len(s)-1], nil
	}
	status, err := field()
	if err != nil {
		return nil, err
	}
	tree, err := field()
	if err != nil {
		return nil, err
	}
	m := &merged{}
	if m.tree, err = git.ParseID(tree); err != nil || (status != "0" && status != "1") {
		return nil, fmt.Errorf("merge-tree answered %q %q", status, tree)
	}
	if status == "1" {
		end, err := field()
		if err == nil && end != "" {
			err = fmt.Errorf("merge-tree answered %q after a clean merge", end)
		}
		return m, err
	}
	m.conflict = true
	for {
		f, err := field()
		if err != nil {
			return nil, err
		}
		if f == "" {
			break
		}
		stage, err := parseStage(f)
		if err != nil {
			return nil, err
		}
		m.stages = append(m.stages, stage)
	}
	for {
		f, err := field()
		if err != nil || f == "" {
			return m, err
		}
		n, err := strconv.Atoi(f)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("merge-tree answered %q where a count was expected", f)
		}
		var message mergeMessage
		for i := range n + 2 {
			if f, err = field(); err != nil {
				return nil, err
			}
			switch i {
			case n:
				message.kind = f
			case n + 1:
				message.text = strings.TrimSuffix(f, "\n")
			}
		}
		m.messages = append(m.messages, message)
	}
}

func parseStage(s string) (git.Stage, error) {
	info, path, ok := strings.Cut(s, "\t")
	f := strings.Fields(info)
	if !ok || len(f) != 3 {
		return git.Stage{}, fmt.Errorf("merge-tree answered %q where a stage was expected", s)
	}
	mode, err := git.ParseMode(f[0])
	if err != nil {
		return git.Stage{}, err
	}
	id, err := git.ParseID(f[1])
	if err != nil {
		return git.Stage{}, err
	}
	n, err := strconv.Atoi(f[2])
	if err != nil || n < 1 || n > 3 {
		return git.Stage{}, fmt.Errorf("merge-tree answered the stage %q", f[2])
	}
	return git.Stage{Mode: mode, ID: id, Stage: n, Path: path}, nil
}
