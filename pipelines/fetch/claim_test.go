// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// An export that was killed is finished by the same again; another one's is
// not touched.
func TestUnfinishedExport(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one", "d/b": "two"})
	other := gittest.New(t)
	other.Commit("main", "one", gittest.Files{"a": "other"})
	w := newWorld(t)
	w.local("x", up)
	w.local("y", other)
	w.pin("x", followMain)
	w.pin("y", followMain)
	w.must("x")
	w.must("y")
	to := t.TempDir() + "/out"
	export := func(name string, force bool) error {
		_, err := w.e.Export(t.Context(), w.get(name), to, force)
		return err
	}
	names := func() string {
		var all []string
		filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				data, _ := os.ReadFile(path)
				all = append(all, d.Name()+"="+string(data))
			}
			return err
		})
		return strings.Join(all, " ")
	}
	entries, err := w.e.Content(t.Context(), w.get("x"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := takeFolder(to, "x "+string(entries[0].Key), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to+"/a", []byte("on"), 0o666); err != nil {
		t.Fatal(err)
	}
	err = export("x", false)
	w.wants(verdict.Of(err), err.Error(), verdict.Infra, "pin x", "another process")
	c.leave() // killed: the lock is gone, the mark is not
	err = export("y", false)
	w.wants(verdict.Of(err), err.Error(), verdict.Fail, "an export of x that was not finished", "--force")
	if verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("exit code %d", verdict.ExitCode(err))
	}
	if err := export("x", false); err != nil || names() != "a=one b=two" {
		t.Errorf("%v, %q", err, names())
	}
	if err := export("x", false); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("a finished one: %v", err)
	}
	if err := export("y", true); err != nil || names() != "a=other b=two" {
		t.Errorf("%v, %q", err, names())
	}
	if err := os.Symlink(t.TempDir()+"/elsewhere", to+"/"+Unfinished); err != nil {
		t.Fatal(err)
	}
	if err := export("x", true); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("a link as the mark: %v", err)
	}
}
