// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Module is one version of a Go module as it came from the module proxy.
type Module struct {
	Entry *store.Entry // its files
	Sum   string       // h1: of them
	Time  time.Time    // of publication, UTC; zero where the proxy does not say
}

// FetchModule returns the files of a module at the version and sum of a lock
// from the store; when they are absent, they are downloaded with one of the
// machine's go commands, checked, and put there.
func FetchModule(ctx context.Context, st *store.Store, name, version, sum string, p *progress.Reporter) (*store.Entry, error) {
	key, err := store.KeyOf(sum)
	if err != nil {
		return nil, err
	}
	return st.Put(ctx, key, moduleMaker(name, version, sum, func(ctx context.Context, dir string) error {
		_, err := downloadModule(ctx, name, version, dir, p)
		return err
	}))
}

// LockModule downloads a module at a version whose sum is not known yet, and
// returns what a lock says of it. The go client holds the sum against the
// checksum database where the user's settings have one.
func LockModule(ctx context.Context, st *store.Store, name, version string, p *progress.Reporter) (*Module, error) {
	work, done, err := st.Workspace()
	if err != nil {
		return nil, err
	}
	defer done()
	dir := filepath.Join(work, "module")
	m, err := downloadModule(ctx, name, version, dir, p)
	if err != nil {
		return nil, err
	}
	key, err := store.KeyOf(m.Sum)
	if err != nil {
		return nil, verdict.Infraf("%s@%s: the go client's answer has no sum (%w)", name, version, err)
	}
	m.Entry, err = st.Put(ctx, key, moduleMaker(name, version, m.Sum, func(_ context.Context, path string) error {
		return os.Rename(dir, path)
	}))
	return m, err
}

func moduleMaker(name, version, sum string, fill func(context.Context, string) error) store.Maker {
	kind := "source"
	if name == GoModule {
		kind = "toolchain"
	}
	return store.Maker{
		Kind: kind,
		Name: name + "@" + version,
		Fill: fill,
		Check: func(dir, _ string) error {
			got, err := dirhash.HashDir(dir, name+"@"+version, dirhash.Hash1)
			if err == nil && got != sum {
				err = fmt.Errorf("the module proxy gave %s@%s with the sum %s, the pin says %s: nothing of it is used", name, version, got, sum)
			}
			return err
		},
	}
}

// ModuleVersions returns the versions of a module that the module proxy lists,
// in its order, or, where it lists none, the one that it calls the latest.
func ModuleVersions(ctx context.Context, name string) ([]string, error) {
	if err := module.CheckPath(name); err != nil {
		return nil, verdict.Failf("%w", err)
	}
	var versions []string
	err := withHostGo(ctx, "the versions of "+name, func(host HostGo) error {
		work, err := os.MkdirTemp("", "dist-go-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(work)
		out, err := goClient(ctx, host, work, name, "list", "-mod=mod", "-m", "-json", "-versions", name+"@latest")
		if err != nil {
			return err
		}
		var m struct {
			Version  string
			Versions []string
		}
		if err := json.Unmarshal(out, &m); err != nil {
			return verdict.Infraf("%s gave no answer that can be read for %s", host.Path, name)
		}
		if versions = m.Versions; len(versions) == 0 && m.Version != "" {
			versions = []string{m.Version}
		}
		return nil
	})
	return versions, err
}

// withHostGo lets each go command of this machine try; which one succeeds does
// not matter.
func withHostGo(ctx context.Context, what string, try func(HostGo) error) error {
	hosts := FindHostGo(ctx)
	if len(hosts) == 0 {
		return verdict.Infraf("no working go command was found to ask for %s: install Go 1.26 or newer and put it on PATH", what)
	}
	var first error
	for _, host := range hosts {
		err := try(host)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// downloadModule puts a module's files at dir, which must not be there.
func downloadModule(ctx context.Context, name, version, dir string, p *progress.Reporter) (*Module, error) {
	if err := module.Check(name, version); err != nil {
		return nil, verdict.Failf("%w", err)
	}
	what := name + "@" + version
	p.Step("downloading %s", what)
	m := &Module{}
	try := 0
	err := withHostGo(ctx, what, func(host HostGo) error {
		work := fmt.Sprintf("%s.download%d", dir, try)
		try++
		defer os.RemoveAll(work)
		out, err := goClient(ctx, host, work, what, "mod", "download", "-json", what)
		if err != nil {
			return err
		}
		var answer struct{ Dir, Sum, Info string }
		if err := json.Unmarshal(out, &answer); err != nil || answer.Dir == "" {
			return verdict.Infraf("%s gave no answer that can be read for %s", host.Path, what)
		}
		m.Sum, m.Time = answer.Sum, timeOf(answer.Info)
		if name == GoModule {
			if err := allowExec(answer.Dir); err != nil {
				return err
			}
		}
		return os.Rename(answer.Dir, dir)
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// timeOf reads when a version was published from the proxy's .info file.
func timeOf(file string) time.Time {
	var info struct{ Time time.Time }
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &info) != nil {
		return time.Time{}
	}
	return info.Time.UTC()
}

// goClient runs a go command that may use the network, with all its caches
// below work, and returns what it prints.
func goClient(ctx context.Context, host HostGo, work, what string, args ...string) ([]byte, error) {
	for _, sub := range []string{"mod", "build", "tmp", "empty"} {
		if err := os.MkdirAll(filepath.Join(work, sub), 0o777); err != nil {
			return nil, err
		}
	}
	r, err := run.Command{
		Path: host.Path,
		Args: args,
		Dir:  filepath.Join(work, "empty"),
		Env: append(NetworkEnv(host.Settings, filepath.Join(work, "mod"), filepath.Join(work, "build"), filepath.Join(work, "tmp")),
			"GOFLAGS=-modcacherw"),
		Timeout: downloadLimit,
	}.Run(ctx)
	if err != nil && strings.Contains(string(r.Stdout)+err.Error(), "checksum mismatch") {
		return nil, verdict.Failf("%s: the module proxy gave something else than go.sum or the checksum database has: nothing of it is used", inert.Line(what, 200))
	}
	if err != nil {
		return nil, explainDownload(inert.Line(what, 200), explainJSON(r.Stdout, err))
	}
	return r.Stdout, nil
}

// explainJSON takes the reason from the answer of go mod download -json, which
// does not repeat it on stderr.
func explainJSON(stdout []byte, err error) error {
	var m struct{ Error string }
	var exit *run.ExitError
	if json.Unmarshal(stdout, &m) == nil && m.Error != "" && errors.As(err, &exit) {
		exit.Stderr = m.Error
	}
	return err
}

// allowExec sets the exec bits that a module zip cannot hold.
func allowExec(root string) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil || !unpack.GoToolchain(filepath.ToSlash(rel)) {
			return err
		}
		return os.Chmod(name, 0o755)
	})
}
