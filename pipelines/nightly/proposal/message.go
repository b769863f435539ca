// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// maxTitle is the longest title, in characters; hosts cut what is longer.
const maxTitle = 100

// Title is the subject of a round's commit and of its pull request. It has
// nothing that an upstream could put a meaning into; see [versionName].
func Title(r *round.Round) string {
	moves := r.Moves()
	if len(moves) == 1 && !r.Mixed {
		return "Bump " + moves[0].Pin + " to " + versionName(moves[0].To)
	}
	head := "Bump " + r.Group
	if r.Mixed {
		head += " in part"
	}
	var parts []string
	for _, m := range moves {
		parts = append(parts, m.Pin+" to "+versionName(m.To))
	}
	if long := head + ": " + strings.Join(parts, ", "); len(long) <= maxTitle {
		return long
	}
	return fmt.Sprintf("%s: %d pins", head, len(moves))
}

// message is the whole message of a round's commit: our names, versions in a
// form that means nothing to anybody, and hashes. dropped are the files of the
// patches that went, by stack.
func message(r *round.Round, dropped map[string][]string) string {
	var b strings.Builder
	b.WriteString(Title(r) + "\n\n")
	for _, m := range r.Moves() {
		fmt.Fprintf(&b, "%s: %s -> %s\n", m.Pin, versionLine(m.From), versionLine(m.To))
	}
	for _, m := range r.Moves() {
		for _, file := range dropped[m.Stack] {
			fmt.Fprintf(&b, "Dropped, as upstream has it: %s/%s\n", stackPath(m.Stack), file)
		}
	}
	fmt.Fprintf(&b, "\nRound: %s\n", r.ID)
	return b.String()
}

func versionLine(v round.Version) string {
	name, id := versionName(v), shortID(v.ID)
	if name == id {
		return id
	}
	return name + " (" + id + ")"
}

var (
	plainVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)
	// What a host or a program could take for more than a name, in any case:
	// a commit, references to issues and advisories, words that close an issue,
	// addresses.
	meaning = regexp.MustCompile(`(?i)^[0-9a-f]{12,}$|(^|[^a-z])(gh|ghsa|cve)-|(clos|fix|resolv|merge|revert|skip|\[)|(^|[^a-z])ci([^a-z]|$)|www\.|\.\.|\.lock$|^refs?$|^head$`)
	digest  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// versionName is how a version is called where upstream must not be able to
// say anything: its name where that is letters, digits and ._+- without a word
// that means something, else its id.
func versionName(v round.Version) string {
	if plainVersion.MatchString(v.Name) && !meaning.MatchString(v.Name) {
		return v.Name
	}
	return shortID(v.ID)
}

// shortID is the beginning of a commit or digest, or a version that is a plain
// name; of anything else its sum.
func shortID(id string) string {
	if _, err := git.ParseID(id); err == nil {
		return id[:12]
	}
	if digest.MatchString(id) {
		return id[:len("sha256:")+12]
	}
	if id == "" {
		return "nothing"
	}
	if plainVersion.MatchString(id) && !meaning.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "version-" + hex.EncodeToString(sum[:6])
}

// commitOf is a round's commit, given the tree.
func commitOf(r *round.Round, tree git.ID, dropped map[string][]string) git.Commit {
	who := git.Signature{Name: patches.CommitterName, Email: patches.CommitterEmail, When: r.At.UTC()}
	return git.Commit{Tree: tree, Parents: []git.ID{r.Base}, Author: who, Committer: who, Message: message(r, dropped)}
}

// droppedFiles are the files of a stack's series that another one lacks.
func droppedFiles(before, after *patches.Series) []string {
	var gone []string
	for _, f := range before.Files() {
		if !slices.Contains(after.Files(), f) {
			gone = append(gone, f)
		}
	}
	return gone
}
