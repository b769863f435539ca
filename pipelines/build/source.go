// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// listLimit bounds go list, which may download modules.
const listLimit = 20 * time.Minute

// A Module is a Go module that is linked into the binary.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum"` // h1:, as in go.sum
}

// A sourceList is what one Go program is built from.
type sourceList struct {
	files   []string // relative to the repository, with slashes, sorted
	dirs    []string // folders whose content decides over files
	modules []Module // of other people, sorted by path
}

// A goPackage is what we ask go list for.
type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *struct {
		Path, Version, Dir, Sum string
		Main                    bool
		Replace                 *struct{ Path, Version string }
	}
	GoFiles, CgoFiles, CFiles, CXXFiles, HFiles, SFiles, SysoFiles, EmbedFiles []string
	EmbedPatterns                                                              []string
	Error                                                                      *struct{ Err string }
}

// listSources asks the pinned go for the packages that pkg is built from for
// linux/amd64, downloading the modules that they need, and checks these
// against go.sum.
func listSources(ctx context.Context, repo, pkg string, g *toolchain.Go, env []string) (*sourceList, error) {
	cmd := run.Command{
		Path:    g.Bin(),
		Args:    []string{"list", "-deps", "-json", pkg},
		Dir:     repo,
		Env:     append(slices.Clone(env), target...),
		Timeout: listLimit,
	}
	r, err := cmd.Run(ctx)
	if err != nil {
		return nil, explainList(err)
	}
	l := &sourceList{files: []string{"VERSION", "go.mod", "go.sum"}}
	modules := map[string]Module{}
	for dec := json.NewDecoder(bytes.NewReader(r.Stdout)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		switch {
		case p.Standard:
		case p.Module == nil:
			return nil, fmt.Errorf("go list: package %s is in no module", p.ImportPath)
		case p.Module.Main:
			if err := l.add(repo, p); err != nil {
				return nil, err
			}
		case p.Module.Replace != nil:
			return nil, fmt.Errorf("go.mod replaces %s: what is shipped is built from what go.sum names", p.Module.Path)
		default:
			m := Module{p.Module.Path, p.Module.Version, p.Module.Sum}
			if _, seen := modules[m.Path]; seen {
				continue
			}
			if err := checkModule(m, p.Module.Dir); err != nil {
				return nil, err
			}
			modules[m.Path] = m
		}
	}
	for _, m := range modules {
		l.modules = append(l.modules, m)
	}
	slices.SortFunc(l.modules, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(l.files)
	slices.Sort(l.dirs)
	l.dirs = slices.Compact(l.dirs)
	return l, nil
}

// add adds the files of a package of ours, and the folders where another file
// would be one more.
func (l *sourceList) add(repo string, p goPackage) error {
	dir, err := filepath.Rel(repo, p.Dir)
	if err != nil {
		return err
	}
	for _, names := range [][]string{p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.HFiles, p.SFiles, p.SysoFiles, p.EmbedFiles} {
		for _, name := range names {
			l.files = append(l.files, filepath.ToSlash(filepath.Join(dir, name)))
		}
	}
	l.dirs = append(l.dirs, filepath.ToSlash(dir))
	if len(p.EmbedPatterns) == 0 {
		return nil
	}
	return filepath.WalkDir(p.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			rel, _ := filepath.Rel(repo, path)
			l.dirs = append(l.dirs, filepath.ToSlash(rel))
		}
		return err
	})
}

// checkModule sums a module's files as they lie in the module cache; the go
// command itself sums only what it downloads.
func checkModule(m Module, dir string) error {
	if m.Sum == "" {
		return fmt.Errorf("go.sum has no sum for %s %s: run 'go mod tidy'", m.Path, m.Version)
	}
	got, err := dirhash.HashDir(dir, m.Path+"@"+m.Version, dirhash.Hash1)
	if err != nil {
		return err
	}
	if got != m.Sum {
		return verdict.Failf("module %s %s in the cache has the sum %s, go.sum says %s: remove %s and build again", m.Path, m.Version, got, m.Sum, dir)
	}
	return nil
}

// explainList makes one sentence of what go list complained.
func explainList(err error) error {
	var exit *run.ExitError
	if !errors.As(err, &exit) || errors.Is(err, context.Canceled) {
		return notStarted(err)
	}
	if err := machineFault("go list", exit); err != nil {
		return err
	}
	for _, sign := range []string{"proxyconnect", "dial tcp", "connection refused", "no such host", "i/o timeout"} {
		if strings.Contains(exit.Stderr, sign) {
			return verdict.Infraf("the Go modules could not be downloaded (%s): check the network and 'go env GOPROXY'", lastLine(exit.Stderr))
		}
	}
	return verdict.Failf("go list: %s", exit.Stderr)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// snapshot copies the files to dir, all with one time, and returns the t1: sum
// of what was copied, which is what is built: an edit while we build changes
// nothing.
func snapshot(repo string, files []string, dir string, mtime time.Time) (string, error) {
	digests := make([]treesum.Digest, 0, len(files))
	for _, f := range files {
		data, err := readRegular(filepath.Join(repo, filepath.FromSlash(f)))
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, data, 0o666); err != nil {
			return "", err
		}
		if err := os.Chtimes(to, mtime, mtime); err != nil {
			return "", err
		}
		// The mode is fixed: what a file may do in the work tree does not
		// reach the binary, and differs with the umask and the system.
		digests = append(digests, treesum.Digest{Mode: git.ModeFile, Path: f, SHA256: sha256.Sum256(data)})
	}
	return treesum.FromDigests(digests)
}

// readRegular reads a file; a named pipe or a device would be waited for.
func readRegular(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
