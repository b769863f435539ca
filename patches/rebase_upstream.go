// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// An UpstreamCommit is a commit as a person would look it up. Its texts went
// through internal/inert.
type UpstreamCommit struct {
	ID          git.ID    `json:"id"`
	Author      string    `json:"author"`
	Date        time.Time `json:"date"` // the committer's
	Subject     string    `json:"subject"`
	PullRequest string    `json:"pull-request,omitempty"` // its number, as the subject says
}

const (
	mostSubject = 120 // runes
	mostAuthor  = 60
)

func newUpstreamCommit(c *git.Commit) UpstreamCommit {
	return UpstreamCommit{
		ID:          c.ID,
		Author:      inert.Line(c.Author.Name, mostAuthor),
		Date:        c.Committer.When.UTC(),
		Subject:     inert.Line(c.Subject(), mostSubject),
		PullRequest: pullRequest(c.Subject()),
	}
}

func (e *Engine) upstreamCommit(id git.ID) (*UpstreamCommit, error) {
	c, err := e.commitAt(id)
	if err != nil {
		return nil, err
	}
	u := newUpstreamCommit(c)
	return &u, nil
}

var (
	squashed    = regexp.MustCompile(`\(#(\d{1,9})\)\s*$`)
	mergedByHub = regexp.MustCompile(`^Merge pull request #(\d{1,9})\b`)
)

// pullRequestAtEnd is the number in a subject such as "Add x (#12)".
func pullRequestAtEnd(subject string) string {
	if m := squashed.FindStringSubmatch(subject); m != nil {
		return m[1]
	}
	return ""
}

// pullRequest is the number that a subject states, if any.
func pullRequest(subject string) string {
	if m := mergedByHub.FindStringSubmatch(subject); m != nil {
		return m[1]
	}
	return pullRequestAtEnd(subject)
}

// touching is a commit with the paths that it changes.
type touching struct {
	id    git.ID
	paths []string    // sorted
	files []git.Entry // both sides of those paths that were asked for, with their blobs
}

// mostPaths bounds an argument list; with more, all paths are looked at.
const mostPaths = 2000

// history lists the commits without merges that are in to and not in from and
// that touch one of the paths (sorted), with all that they touch, newest first.
func (e *Engine) history(ctx context.Context, from, to git.ID, paths []string) ([]touching, error) {
	args := []string{"--literal-pathspecs", "log", "--no-merges", "--no-renames", "--raw", "--no-abbrev", "--format=%x01%H",
		"-z", "--full-diff", "--no-show-signature", "--end-of-options", string(to), "^" + string(from), "--"}
	if len(paths) <= mostPaths {
		args = append(args, paths...)
	}
	out, err := e.git(ctx, "", args...)
	if err != nil {
		return nil, fmt.Errorf("history of upstream: %w", err)
	}
	var list []touching
	pathNext := false
	raw := ""
	for field := range bytes.SplitSeq(out, []byte{0}) {
		s := string(field)
		switch {
		case pathNext:
			last := &list[len(list)-1]
			last.paths = append(last.paths, s)
			if _, asked := slices.BinarySearch(paths, s); asked {
				for _, id := range blobsOf(raw) {
					last.files = append(last.files, git.Entry{Mode: git.ModeFile, Path: s, ID: id})
				}
			}
			pathNext = false
		case strings.HasPrefix(s, "\x01") && len(s) == 41:
			list = append(list, touching{id: git.ID(s[1:])})
		case strings.HasPrefix(strings.TrimPrefix(s, "\n"), ":") && len(list) > 0:
			pathNext, raw = true, s
		case s != "" && s != "\n":
			return nil, fmt.Errorf("history of upstream: git log answered %q", s)
		}
	}
	for i := range list {
		list[i].paths = sortedSet(list[i].paths)
	}
	return list, nil
}

// blobsOf returns the blobs in a line ":<mode> <mode> <id> <id> <status>".
func blobsOf(raw string) []git.ID {
	var ids []git.ID
	f := strings.Fields(strings.TrimPrefix(raw, "\n"))
	if len(f) < 4 {
		return nil
	}
	for i, mode := range []string{strings.TrimPrefix(f[0], ":"), f[1]} {
		if id, err := git.ParseID(f[2+i]); err == nil && mode != "160000" {
			ids = append(ids, id)
		}
	}
	return ids
}

// A patchText is what identifies a commit's change.
type patchText struct {
	sum   [sha256.Size]byte // of the diff without line numbers
	lines changedLines
}

// mostLines bounds what is remembered of one commit.
const mostLines = 20_000

// patchTexts reads the diffs of commits to their only parents, in the given
// paths: other files of upstream's history need not be in the object store.
// The sum is git's patch id in all but its name: it depends on the changed
// lines and their surroundings, not on where they are. White space counts.
func (e *Engine) patchTexts(ctx context.Context, ids []git.ID, paths []string) (map[git.ID]*patchText, error) {
	out := make(map[git.ID]*patchText, len(ids))
	args := []string{"--literal-pathspecs", "diff-tree", "--stdin", "-r", "-p", "--root", "--no-renames", "--no-ext-diff",
		"--no-textconv", "--full-index", "--no-color", "-U3", "--diff-algorithm=myers", "--no-indent-heuristic"}
	if len(paths) <= mostPaths {
		args = append(append(args, "--"), paths...)
	}
	var in strings.Builder
	for _, id := range ids {
		in.WriteString(string(id) + "\n")
	}
	c := e.s.Command(args...)
	c.Stdin = strings.NewReader(in.String())
	r, w := io.Pipe()
	c.Stdout = w
	done := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx)
		w.CloseWithError(err)
		done <- err
	}()
	err := readPatchTexts(r, out)
	r.CloseWithError(err)
	if e := <-done; e != nil && err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("diffs of upstream: %w", err)
	}
	return out, nil
}

func readPatchTexts(r io.Reader, out map[git.ID]*patchText) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var id git.ID
	var current *patchText
	h := sha256.New()
	index := ""
	end := func() {
		if current != nil {
			h.Sum(current.sum[:0])
			out[id] = current
		}
	}
	inHunk := false
	for {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if line == "" {
			break
		}
		switch {
		case line == "\n":
		case len(line) == 41 && isID(line[:40]):
			end()
			id, current, inHunk = git.ID(line[:40]), &patchText{lines: changedLines{}}, false
			h.Reset()
		case current == nil:
			return fmt.Errorf("git diff-tree answered %q", line)
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
			io.WriteString(h, "@@\n")
		case inHunk && (line[0] == '+' || line[0] == '-'):
			io.WriteString(h, line)
			if len(current.lines) < mostLines {
				current.lines.add(line[0], line[1:])
			}
		case inHunk && (line[0] == ' ' || line[0] == '\\'):
			io.WriteString(h, line)
		default:
			inHunk = false
			switch {
			case strings.HasPrefix(line, "index "):
				index = line
			case strings.HasPrefix(line, "Binary files "):
				io.WriteString(h, index)
			default:
				io.WriteString(h, line)
			}
		}
	}
	end()
	return nil
}

func isID(s string) bool {
	_, err := git.ParseID(s)
	return err == nil
}
