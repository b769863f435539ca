// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// servePackage is the program that the recipe serve builds, stepPackage the one
// that a step of a Dagger engine starts with, and versionPackage where the
// linker writes what a program is.
const (
	servePackage   = "./cmd/1bit"
	stepPackage    = "./cmd/dist-step"
	versionPackage = "github.com/1bit-MONSTER/engine/engine/version"
)

// goToolchain is the pin of the Go toolchain, which a build sees at goDir.
const goToolchain = "go"

// Where a build of Go code sees its toolchain and modules.
const (
	goDir     = "/go"
	moduleDir = "/mod"
	engineDir = "/src/engine"
)

// target is for whom we build: linux/amd64 as every such machine can run it.
var target = []string{"GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "CGO_ENABLED=0"}

// goBuild are the arguments before -ldflags.
var goBuild = []string{"build", "-trimpath", "-buildvcs=false", "-mod=readonly"}

// goSettings are those of a go command that must not see the machine. They
// are stated one by one, since an empty environment means defaults, and the
// go command has a file of its own with others.
var goSettings = []string{"GOENV=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GOSUMDB=off", "GOVCS=*:off"}

// A GoPin is what the recipe needs of the pin go.
type GoPin struct {
	Version string    // v0.0.1-go1.27.4.linux-amd64
	Sum     string    // h1:
	Date    time.Time // the time of everything that is packed
}

// GoPinOf returns what the lock of the pin go says. The error is for people,
// where p is nil or its lock is not verified.
func GoPinOf(p *pins.Pin) (GoPin, error) {
	switch {
	case p == nil:
		return GoPin{}, verdict.Failf("there is no pin go: it names the toolchain of the program 1bit")
	case p.State() != pins.Verified:
		return GoPin{}, verdict.Failf("pin go is %s: only a verified lock is built; run 'dist pins update go'", p.State())
	}
	return GoPin{Version: p.Lock.Version, Sum: p.Lock.Sum, Date: p.Lock.Date}, nil
}

// A workTree is what a program of ours is built from: files of this repository,
// copied so that an edit meanwhile changes nothing, and the Go modules that
// they need.
type workTree struct {
	repo    string
	pkg     string // the program's package
	pin     GoPin
	cache   Cache
	store   *store.Store
	p       *progress.Reporter
	offline bool // nothing is asked of the network

	goRoot     *toolchain.Go
	modCache   string
	buildCache string
	tmp        string // our workspace in the store
	src        string // the copied files
	list       *sourceList
	source     string // t1: of the copied files
	version    string
}

// prepare brings toolchain and modules and copies the sources. The caller must
// call the function that it returns.
func (w *workTree) prepare(ctx context.Context) (done func(), err error) {
	if w.goRoot, err = w.toolchain(ctx); err != nil {
		return nil, err
	}
	if w.tmp, done, err = w.store.Workspace(); err != nil {
		return nil, err
	}
	if err := w.copy(ctx); err != nil {
		err = w.removed(store.Explain(err, w.cache.Dir))
		done()
		return nil, err
	}
	return done, nil
}

// toolchain returns the pinned Go. What downloads it knows nothing of --offline.
func (w *workTree) toolchain(ctx context.Context) (*toolchain.Go, error) {
	if !w.offline {
		return toolchain.FetchGo(ctx, w.store, w.pin.Version, w.pin.Sum, w.p)
	}
	g, err := toolchain.CachedGo(w.store, w.pin.Version, w.pin.Sum)
	var absent *store.Absent
	var damaged *store.Damaged
	if errors.As(err, &absent) || errors.As(err, &damaged) {
		return nil, verdict.Infraf("the toolchain go is not here, or damaged, and --offline forbids to ask for it: run the same once without --offline")
	}
	return g, err
}

func (w *workTree) copy(ctx context.Context) (err error) {
	if w.modCache, err = w.cache.mkdir("go", "mod"); err != nil {
		return err
	}
	if w.buildCache, err = w.cache.mkdir("go", "build"); err != nil {
		return err
	}
	if w.list, err = w.sources(ctx); err != nil {
		return err
	}
	w.src = filepath.Join(w.tmp, "src")
	if w.source, err = snapshot(w.repo, w.list.files, w.src, w.pin.Date); err != nil {
		return err
	}
	w.version, err = readVersion(w.src)
	return err
}

// sources lists what the program is built from, first with what is in the
// module cache alone, so that nothing is asked of the network when nothing is
// missing.
func (w *workTree) sources(ctx context.Context) (*sourceList, error) {
	offline := append([]string{
		"GOROOT=" + w.goRoot.Dir, "GOMODCACHE=" + w.modCache, "GOCACHE=" + w.buildCache,
		"PATH=" + filepath.Dir(w.goRoot.Bin()), "HOME=" + w.tmp, "TMPDIR=" + w.tmp, "LC_ALL=C",
	}, goSettings...)
	l, err := listSources(ctx, w.repo, w.pkg, w.goRoot, offline)
	if err == nil || !strings.Contains(err.Error(), "GOPROXY=off") {
		return l, err
	}
	if w.offline {
		return nil, verdict.Infraf("Go modules of %s are not here and --offline forbids to ask for them: run the same once without --offline", path.Base(w.pkg))
	}
	hosts := toolchain.FindHostGo(ctx)
	var settings []string
	if len(hosts) > 0 {
		settings = hosts[0].Settings
	}
	w.p.Step("downloading the Go modules of " + path.Base(w.pkg))
	// go.sum decides; a checksum database may not be within reach.
	env := append(toolchain.NetworkEnv(settings, w.modCache, w.buildCache, w.tmp), "GOSUMDB=off")
	return listSources(ctx, w.repo, w.pkg, w.goRoot, env)
}

// inputs are those of the recipe; what the program says of itself is
// known only now.
func (w *workTree) inputs(r *Recipe, space Space) *Inputs {
	in := &Inputs{
		Recipe: r.Name, Space: space, Toolchain: Sum{r.Toolchain, w.pin.Sum},
		Sources: []Sum{{"engine", w.source}}, Env: r.Env, Outputs: r.Outputs, Epoch: w.pin.Date.Unix(),
	}
	for _, m := range w.list.modules {
		in.Downloads = append(in.Downloads, Sum{m.Path + "@" + m.Version, m.Sum})
	}
	ldflags := fmt.Sprintf("-s -w -buildid= -X %[1]s.version=%[2]s -X %[1]s.source=%[3]s -X %[1]s.pins=go=%[4]s",
		versionPackage, w.version, w.source, w.pin.Version)
	in.Steps = append(in.Steps, r.Steps...)
	in.Steps[0].Args = append([]string{goDir + "/bin/go"}, append(goBuild[:len(goBuild):len(goBuild)],
		"-ldflags="+ldflags, "-o", OutputDir+"/"+path.Base(w.pkg), w.pkg)...)
	return in
}

// binds show the sources, the toolchain and the modules to the build.
func (w *workTree) binds() ([]sandbox.Bind, error) {
	modules, err := w.modules()
	return []sandbox.Bind{
		{From: w.src, To: engineDir},
		{From: w.goRoot.Dir, To: goDir},
		{From: modules, To: moduleDir},
	}, err
}
