// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// DownloadModules downloads all modules that a go.mod needs into the new folder
// dir, in the layout of a module proxy: <module>/@v/<version>.mod, .zip and
// .info. Each is held against go.sum, which must know all of them. The folder
// depends on the two files alone: what a proxy says of origins and times is left
// out. what is for progress and errors.
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
		after, err := os.ReadFile(filepath.Join(top, "go.sum"))
		if err != nil {
			return err
		}
		if !bytes.Equal(after, goSum) {
			return verdict.Failf("the go.sum of %s does not know all modules that its go.mod needs: what it lacks can not be verified", what)
		}
		return keepModules(filepath.Join(work, "mod", "cache", "download"), dir)
	})
}

// keepModules moves what a build needs from a module cache to dir.
func keepModules(cache, dir string) error {
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
		if !strings.HasSuffix(filepath.ToSlash(folder), "/@v/") || ext != ".mod" && ext != ".zip" {
			return nil
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(name, to); err != nil {
			return err
		}
		version, err := module.UnescapeVersion(strings.TrimSuffix(file, ext))
		if err != nil {
			return err
		}
		return os.WriteFile(strings.TrimSuffix(to, ext)+".info", fmt.Appendf(nil, "{\"Version\":%q}\n", version), 0o666)
	})
}
