// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
)

// A memory is what the last build of a work tree into a folder saw and left.
// As long as all that it watched has the same stat, nothing is to do.
type memory struct {
	Rules   string           `json:"rules"` // how we build and pack
	Go      GoPin            `json:"go"`
	Result  Result           `json:"result"`
	Sources []string         `json:"sources"`
	Watched map[string]stamp `json:"watched"` // by absolute path
	Out     stamp            `json:"out"`
}

// A stamp is what tells that a file is the one that we saw.
type stamp struct {
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"` // ns since 1970
	CTime int64  `json:"ctime"` // ns; 0 where the system has none
	Inode uint64 `json:"inode"`
	Dir   bool   `json:"dir,omitempty"`
}

// racy is how long before a build began a file must have rested to be
// believed unchanged by its stat alone: file times step, and what was written
// twice within a step looks the same.
const racy = 20 * time.Millisecond

// memoryFile is where the memory for this work tree and folder lies.
func (o Options) memoryFile() string {
	return o.Cache.path("state", "build-"+digestName(o.Repo, o.Out)+".json")
}

// rules changes when this program builds or packs otherwise than before.
func rules() string {
	return digestName(slices.Concat(goBuild, target, documents, []string{versionPackage, platform, unitDir})...)
}

func digestName(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// upToDate returns the result of the last build if a new one would be the same.
func upToDate(ctx context.Context, o Options) *Result {
	data, err := os.ReadFile(o.memoryFile())
	if err != nil {
		return nil
	}
	var m memory
	if json.Unmarshal(data, &m) != nil || m.Rules != rules() || m.Go != o.Go {
		return nil
	}
	for path, then := range m.Watched {
		if now, ok := stampOf(path); !ok || now != then {
			return nil
		}
	}
	if now, ok := stampOf(m.Result.Archive); !ok || now != m.Out {
		return nil
	}
	if commitOf(ctx, o.Repo, m.Sources) != m.Result.Commit {
		return nil
	}
	m.Result.UpToDate, m.Result.From = true, ""
	return &m.Result
}

// remember notes what the build saw, unless something changed too close to
// its beginning to tell. That it cannot be noted only costs the next build
// its time.
func remember(o Options, r *Result, l *sourceList, begun time.Time) {
	m := memory{Rules: rules(), Go: o.Go, Result: *r, Sources: l.files, Watched: map[string]stamp{}}
	limit := begun.Add(-racy).UnixNano()
	for _, name := range slices.Concat(l.files, l.dirs, documents) {
		path := filepath.Join(o.Repo, filepath.FromSlash(name))
		s, ok := stampOf(path)
		if !ok || s.MTime > limit || s.CTime > limit && !s.Dir {
			return
		}
		m.Watched[path] = s
	}
	var ok bool
	if m.Out, ok = stampOf(r.Archive); !ok {
		return
	}
	data, err := json.Marshal(m)
	if err != nil {
		return
	}
	if _, err := o.Cache.mkdir("state"); err == nil {
		atomicfile.Write(o.memoryFile(), data, 0o644)
	}
}

func stampOf(path string) (stamp, bool) {
	st, err := os.Stat(path)
	if err != nil {
		return stamp{}, false
	}
	s := stamp{MTime: st.ModTime().UnixNano(), Dir: st.IsDir()}
	if !s.Dir {
		s.Size = st.Size()
	}
	s.CTime, s.Inode = changeTime(st)
	return s, true
}
