// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/run"
)

// A Commit is where in history a work tree stands. All is empty where there is
// no git or no repository.
type Commit struct {
	ID       string `json:"commit,omitempty"`
	Tag      string `json:"tag,omitempty"`
	Modified bool   `json:"modified,omitempty"` // of the files that went in, some are not as committed
}

// commitOf asks git about the repository and compares the given files of it
// with HEAD. It reads only, and runs nothing that the repository's
// configuration names: the files are summed here, as they are, since git would
// pass them through the filters that the repository states.
func commitOf(ctx context.Context, repo string, files []string) Commit {
	git := func(args ...string) (string, bool) {
		r, err := run.Command{
			Path:    "git",
			Args:    append([]string{"-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-C", repo}, args...),
			Env:     gitEnv(repo),
			Timeout: 30 * time.Second,
		}.Run(ctx)
		return string(r.Stdout), err == nil
	}
	head, ok := git("log", "-1", "--format=%H%x00%D", "--decorate=full")
	if !ok {
		return Commit{}
	}
	id, refs, _ := strings.Cut(strings.TrimSpace(head), "\x00")
	c := Commit{ID: id}
	for _, ref := range strings.Split(refs, ", ") {
		if tag, ok := strings.CutPrefix(ref, "tag: refs/tags/"); ok && (c.Tag == "" || tag < c.Tag) {
			c.Tag = tag
		}
	}
	tree, ok := git("ls-tree", "-r", "-z", "--full-tree", id)
	c.Modified = !ok || modified(repo, files, tree)
	return c
}

// modified says whether one of the files differs from the blob that a listing
// of git ls-tree -z has for it. Modes do not count: they reach no archive.
func modified(repo string, files []string, tree string) bool {
	blobs := map[string]string{}
	for entry := range strings.SplitSeq(tree, "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		blobs[path] = meta[strings.LastIndexByte(meta, ' ')+1:]
	}
	for _, f := range files {
		data, err := readRegular(filepath.Join(repo, filepath.FromSlash(f)))
		if err != nil || blobID(data, len(blobs[f])) != blobs[f] {
			return true
		}
	}
	return false
}

// blobID returns git's name for a blob, in a repository whose names have so
// many hex digits.
func blobID(data []byte, digits int) string {
	h := sha1.New()
	if digits == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// gitEnv is an environment in which git sees only this repository: not one
// around it, and no configuration of user or system; and with which it fetches
// nothing that a partial clone lacks.
func gitEnv(repo string) []string {
	return []string{
		"PATH=" + searchPath(), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(repo),
	}
}
