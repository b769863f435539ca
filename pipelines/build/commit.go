// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
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

// commitOf asks git about the repository and about the given files of it. It
// reads only, and runs nothing that the repository's configuration names.
func commitOf(ctx context.Context, repo string, files []string) Commit {
	git := func(args ...string) (string, bool) {
		r, err := run.Command{
			Path:    "git",
			Args:    append([]string{"-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-C", repo}, args...),
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
	changes, ok := git(append([]string{"status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--"}, literal(files)...)...)
	c.Modified = !ok || changes != ""
	return c
}

// literal turns paths into pathspecs without wildcards.
func literal(files []string) []string {
	specs := make([]string, len(files))
	for i, f := range files {
		specs[i] = ":(top,literal)" + f
	}
	return specs
}

// gitEnv is an environment in which git sees only this repository: not one
// around it, and no configuration of user or system.
func gitEnv(repo string) []string {
	return []string{
		"PATH=" + searchPath(), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(repo),
	}
}
