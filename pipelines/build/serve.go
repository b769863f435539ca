// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// servePackage is the program that the recipe serve builds, and versionPackage
// where the linker writes what it is.
const (
	servePackage   = "./cmd/1bit"
	versionPackage = "github.com/1bit-MONSTER/engine/engine/version"
)

// target is for whom we build: linux/amd64 as every such machine can run it.
var target = []string{"GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "CGO_ENABLED=0"}

// goBuild are the arguments before -ldflags; they are part of the build key.
var goBuild = []string{"build", "-trimpath", "-buildvcs=false", "-mod=readonly"}

// buildLimit bounds one go build.
const buildLimit = 30 * time.Minute

// A GoPin is what the recipe needs of the pin go.
type GoPin struct {
	Version string    // v0.0.1-go1.27.4.linux-amd64
	Sum     string    // h1:
	Date    time.Time // the time of everything that is packed
}

// A Component is what one build made: a folder in the store.
type Component struct {
	Name   string
	Digest string // t1: of its files
	Key    store.Key
	Path   string
	Hit    bool // it was in the store already

	Version string
	Source  string // t1: of the work-tree files that went in
	Modules []Module
	Files   []store.File
}

// An inputs value is everything that the bytes of the component follow from;
// its digest is the key.
type inputs struct {
	Recipe    string   `json:"recipe"`
	Source    string   `json:"source"`
	Toolchain string   `json:"toolchain"`
	Modules   []Module `json:"modules"`
	Args      []string `json:"args"`
	Env       []string `json:"env"`
}

func (in inputs) key() (store.Key, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	return store.KeyOf(fmt.Sprintf("in:%x", sha256.Sum256(data)))
}

// A serveBuild is one run of the recipe serve.
type serveBuild struct {
	repo  string
	pin   GoPin
	cache Cache
	store *store.Store
	p     *progress.Reporter

	modCache, buildCache, tmp string

	toolchainKey store.Key
	tmpGone      bool // it was removed before we did
}

// removed returns store.Removed when the cache that the build used is no longer
// there as it should be, which explains err better than err does.
func (b *serveBuild) removed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || verdict.Of(err) != verdict.Fail {
		return err
	}
	gone := b.tmpGone || b.toolchainKey != "" && !b.store.Intact(b.toolchainKey)
	for _, dir := range []string{b.modCache, b.buildCache, b.store.Dir()} {
		_, missing := os.Stat(dir)
		gone = gone || dir != "" && missing != nil
	}
	if gone {
		return store.Removed(b.cache.Dir, errors.New(lastLine(err.Error())))
	}
	return err
}

// component brings the toolchain and the modules, and builds the program
// unless the store has it. It also returns what decided over the list of
// sources.
func (b *serveBuild) component(ctx context.Context) (*Component, *sourceList, error) {
	g, err := b.toolchain(ctx)
	if err != nil {
		return nil, nil, err
	}
	tmp, done, err := b.store.Workspace()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		_, err := os.Stat(tmp)
		b.tmpGone = err != nil
		done()
	}()
	b.tmp = tmp
	if b.modCache, err = b.cache.mkdir("go", "mod"); err != nil {
		return nil, nil, err
	}
	if b.buildCache, err = b.cache.mkdir("go", "build"); err != nil {
		return nil, nil, err
	}
	l, err := b.list(ctx, g)
	if err != nil {
		return nil, nil, store.Explain(err, b.cache.Dir)
	}
	src := filepath.Join(b.tmp, "src")
	source, err := snapshot(b.repo, l.files, src, b.pin.Date)
	if err != nil {
		return nil, nil, store.Explain(err, b.cache.Dir)
	}
	version, err := readVersion(src)
	if err != nil {
		return nil, nil, err
	}
	ldflags := fmt.Sprintf("-s -w -buildid= -X %[1]s.version=%[2]s -X %[1]s.source=%[3]s -X %[1]s.pins=go=%[4]s",
		versionPackage, version, source, b.pin.Version)
	args := append(goBuild[:len(goBuild):len(goBuild)], "-ldflags="+ldflags)
	in := inputs{Recipe: "serve", Source: source, Toolchain: g.Sum, Modules: l.modules, Args: args, Env: target}
	key, err := in.key()
	if err != nil {
		return nil, nil, err
	}
	hit := true
	e, err := b.store.Put(ctx, key, store.Maker{
		Kind: "output",
		Name: "serve " + version,
		Meta: map[string]string{"source": source, "toolchain": g.Sum},
		Fill: func(ctx context.Context, dir string) error {
			hit = false
			b.p.Step("building 1bit %s with %s", version, g.Name())
			return b.compile(ctx, g, args, src, dir)
		},
		Check: func(string, string) error { return nil }, // an output's key is what went in
	})
	if err != nil {
		return nil, nil, err
	}
	files, err := b.store.Files(key)
	if err != nil {
		return nil, nil, err
	}
	return &Component{
		Name: "serve", Digest: e.Sum, Key: key, Path: e.Path, Hit: hit,
		Version: version, Source: source, Modules: l.modules, Files: files,
	}, l, nil
}

func (b *serveBuild) toolchain(ctx context.Context) (*toolchain.Go, error) {
	g, err := toolchain.FetchGo(ctx, b.store, b.pin.Version, b.pin.Sum, b.p)
	if err == nil {
		b.toolchainKey, err = store.KeyOf(g.Sum)
	}
	return g, err
}

// list lists the sources, first with what is in the module cache alone, so
// that nothing is asked of the network when nothing is missing.
func (b *serveBuild) list(ctx context.Context, g *toolchain.Go) (*sourceList, error) {
	offline := b.buildEnv(g)
	l, err := listSources(ctx, b.repo, servePackage, g, offline)
	if err == nil || !strings.Contains(err.Error(), "GOPROXY=off") {
		return l, err
	}
	hosts := toolchain.FindHostGo(ctx)
	var settings []string
	if len(hosts) > 0 {
		settings = hosts[0].Settings
	}
	b.p.Step("downloading the Go modules of 1bit")
	// go.sum decides; a checksum database may not be within reach.
	env := append(toolchain.NetworkEnv(settings, b.modCache, b.buildCache, b.tmp), "GOSUMDB=off")
	return listSources(ctx, b.repo, servePackage, g, env)
}

// buildEnv is the whole environment of a step that must not see the machine.
func (b *serveBuild) buildEnv(g *toolchain.Go) []string {
	return append([]string{
		"GOENV=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GOSUMDB=off", "GOVCS=*:off",
		"GOROOT=" + g.Dir, "GOMODCACHE=" + b.modCache, "GOCACHE=" + b.buildCache,
		"PATH=" + filepath.Dir(g.Bin()), "HOME=" + b.tmp, "TMPDIR=" + b.tmp, "TZ=UTC", "LC_ALL=C",
	}, target...)
}

// compile builds the program from src into the folder dir.
func (b *serveBuild) compile(ctx context.Context, g *toolchain.Go, args []string, src, dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	out := filepath.Join(dir, "1bit")
	_, err := run.Command{
		Path:    g.Bin(),
		Args:    append(args[:len(args):len(args)], "-o", out, servePackage),
		Dir:     src,
		Env:     b.buildEnv(g),
		Timeout: buildLimit,
	}.Run(ctx)
	if err != nil {
		return explainBuild(err)
	}
	return os.Chmod(out, 0o755) // the compiler heeds the umask
}

// explainBuild tells a machine that cannot from a program that does not compile.
func explainBuild(err error) error {
	var exit *run.ExitError
	if !errors.As(err, &exit) || errors.Is(err, context.Canceled) {
		return notStarted(err)
	}
	if err := machineFault("go build", exit); err != nil {
		return err
	}
	return verdict.Failf("1bit does not compile:\n%s", exit.Stderr)
}

// machineSigns are what programs print, or the go command about those that it
// starts, when the machine has no more to give.
var machineSigns = [...]string{
	"resource temporarily unavailable", "cannot allocate memory", "out of memory",
	"too many open files", "signal: killed", "input/output error",
}

// notStarted says of a program that did not start whether the machine was at
// fault; other errors it returns as they are.
func notStarted(err error) error {
	for _, number := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, number) {
			return verdict.Infraf("this machine is out of memory, processes or files (%w): see what else it is doing, and run the same again", err)
		}
	}
	return err
}

// machineFault returns an error when it was the machine that ended a go command:
// a full disk, no memory or processes left, the time limit, a signal.
func machineFault(what string, exit *run.ExitError) error {
	switch {
	case strings.Contains(exit.Stderr, "no space left on device"):
		return fmt.Errorf("%s: %w", what, syscall.ENOSPC)
	case exit.TimedOut:
		return verdict.Infraf("%s was not done in time: see what else this machine is doing, and run the same again", what)
	case exit.Signal != "":
		return verdict.Infraf("%s was killed by a signal (%s): see whether this machine is out of memory, and run the same again", what, exit.Signal)
	}
	for line := range strings.Lines(exit.Stderr) {
		for _, sign := range machineSigns {
			if strings.Contains(line, sign) {
				return verdict.Infraf("%s: this machine is out of memory, processes or files (%s): see what else it is doing, and run the same again", what, strings.TrimSpace(line))
			}
		}
	}
	return nil
}
