// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// DownloadModules downloads all modules that a go.mod needs into the new folder
// dir, in the layout of a module proxy: <module>/@v/<version>.mod, .zip and
// .info. Each is held against go.sum; what that does not know is left out, since
// no build can use it. The folder depends on the two files alone: what a proxy
// says of origins and times is left out too. what is for progress and errors.
func DownloadModules(ctx context.Context, what string, goMod, goSum []byte, dir string, p *progress.Reporter) error {
	p.Step("downloading the modules of %s", what)
	try := 0
	return withHostGo(ctx, "the modules of "+what, func(host HostGo) error {
		work := fmt.Sprintf("%s.download%d", dir, try)
		try++
		defer os.RemoveAll(work)
		top := filepath.Join(work, "empty")
		if err := os.MkdirAll(top, 0o777); err != nil {
			return err
		}
		for name, data := range map[string][]byte{"go.mod": goMod, "go.sum": goSum} {
			if err := os.WriteFile(filepath.Join(top, name), data, 0o666); err != nil {
				return err
			}
		}
		if _, err := goClient(ctx, host, work, "the modules of "+what, "mod", "download", "-json"); err != nil {
			return err
		}
		return keepModules(filepath.Join(work, "mod", "cache", "download"), dir, readSums(goSum))
	})
}

// readSums reads a go.sum: "module version" or "module version/go.mod" to sum.
func readSums(goSum []byte) map[string]string {
	sums := map[string]string{}
	for line := range strings.Lines(string(goSum)) {
		if words := strings.Fields(line); len(words) == 3 {
			sums[words[0]+" "+words[1]] = words[2]
		}
	}
	return sums
}

// keepModules moves what a build needs, and go.sum knows, from a module cache
// to dir.
func keepModules(cache, dir string, sums map[string]string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return filepath.WalkDir(cache, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(cache, name)
		if err != nil {
			return err
		}
		folder, file := filepath.Split(rel)
		ext := filepath.Ext(file)
		escaped, ok := strings.CutSuffix(filepath.ToSlash(folder), "/@v/")
		if !ok || ext != ".mod" && ext != ".zip" {
			return nil
		}
		path, err1 := module.UnescapePath(escaped)
		version, err2 := module.UnescapeVersion(strings.TrimSuffix(file, ext))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		got, key := "", path+" "+version
		if ext == ".zip" {
			got, err = dirhash.HashZip(name, dirhash.Hash1)
		} else {
			key += "/go.mod"
			got, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(name) })
		}
		switch want := sums[key]; {
		case err != nil:
			return err
		case want == "":
			return nil
		case want != got:
			return verdict.Failf("the module proxy gave %s with the sum %s, go.sum says %s: nothing of it is used", key, got, want)
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(name, to); err != nil {
			return err
		}
		return os.WriteFile(strings.TrimSuffix(to, ext)+".info", fmt.Appendf(nil, "{\"Version\":%q}\n", version), 0o666)
	})
}
