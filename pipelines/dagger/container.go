// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/pipelines/inputs"

	"dagger/onebit/internal/dagger"
)

// Where our containers have what they work with.
const (
	repoDir  = "/repo"
	cacheDir = "/cache" // DIST_CACHE
	goDir    = "/go"
	outDir   = "/out"
	distPath = "/usr/local/bin/dist"
	stepPath = "/usr/local/bin/dist-step"
)

// base returns a container with the repository, the inputs and the pinned Go.
// Its root is the pinned root file system where the inputs have one, else it has
// no other file.
func (m *Onebit) base(ctx context.Context, wanted ...string) (*dagger.Container, error) {
	dir, manifest, err := m.folder(ctx, wanted...)
	if err != nil {
		return nil, err
	}
	ctr := dag.Container()
	if manifest.Root != "" {
		ctr = ctr.WithRootfs(dir.Directory(manifest.Root))
	}
	for _, env := range []string{
		"PATH=" + goDir + "/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LC_ALL=C", "TZ=UTC", "DIST_CACHE=" + cacheDir,
		// The pinned Go, and modules from the inputs alone; go.sum decides.
		"GOENV=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOSUMDB=off", "GOVCS=*:off", "CGO_ENABLED=0",
		"GOFLAGS=-mod=readonly -buildvcs=false", "GOPROXY=file://" + cacheDir + "/" + inputs.Modules,
	} {
		name, value, _ := strings.Cut(env, "=")
		ctr = ctr.WithEnvVariable(name, value)
	}
	return ctr.
		WithMountedTemp("/tmp").
		WithMountedDirectory(goDir, dir.Directory(manifest.Go), dagger.ContainerWithMountedDirectoryOpts{ReadOnly: true}).
		WithMountedDirectory(cacheDir, dir).
		WithMountedDirectory(repoDir, m.Source).
		WithWorkdir(repoDir), nil
}

// goCaches gives a container the engine's memory of what Go compiled. Nothing
// that is built for users sees it.
func goCaches(ctr *dagger.Container) *dagger.Container {
	return ctr.
		WithMountedCache("/var/cache/go-build", dag.CacheVolume("1bit-go-build")).
		WithMountedCache("/var/cache/go-mod", dag.CacheVolume("1bit-go-mod")).
		WithEnvVariable("GOCACHE", "/var/cache/go-build").
		WithEnvVariable("GOMODCACHE", "/var/cache/go-mod")
}

// dist returns a container in which dist can be run, compiled from the
// repository with the pinned Go.
func (m *Onebit) dist(ctx context.Context, wanted ...string) (*dagger.Container, error) {
	ctr, err := m.base(ctx, wanted...)
	if err != nil {
		return nil, err
	}
	programs, err := goCaches(ctr.WithMountedDirectory(repoDir, m.Source.Filter(dagger.DirectoryFilterOpts{Exclude: noProgram}))).
		WithMountedDirectory(outDir, dag.Directory()).
		WithExec([]string{"go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", outDir + "/", "./cmd/dist", "./cmd/dist-step"}).
		Sync(ctx)
	if err != nil {
		return nil, err
	}
	return ctr.
		WithMountedFile(distPath, programs.File(outDir+"/dist")).
		WithMountedFile(stepPath, programs.File(outDir+"/dist-step")).
		WithEnvVariable("DIST_STEP", stepPath).
		WithMountedDirectory(outDir, dag.Directory()), nil
}

// noProgram is of the repository what no program is made of: a change there
// compiles nothing anew.
var noProgram = []string{"docs", ".ci", "ci", "*.md", "NOTICE", "pins/*.yaml", "patches/*/*", "pipelines/dagger", "**/*_test.go", "**/testdata"}

// report runs dist and returns what it printed. A verdict other than pass is no
// error of the function: the last line names it.
func report(ctx context.Context, ctr *dagger.Container, opts dagger.ContainerWithExecOpts, args ...string) (string, error) {
	opts.Expect = dagger.ReturnTypeAny
	return reportOf(ctx, ctr.WithExec(append([]string{distPath}, args...), opts))
}

// reportOf is report of a container in which dist ran, whatever its exit code.
func reportOf(ctx context.Context, done *dagger.Container) (string, error) {
	code, err := done.ExitCode(ctx)
	if err != nil {
		return "", err
	}
	out, err := done.Stdout(ctx)
	if err != nil {
		return "", err
	}
	notes, err := done.Stderr(ctx)
	if err != nil {
		return "", err
	}
	switch code {
	case 0:
		return out + notes, nil
	case 2, 5: // nothing was judged
		return "", fmt.Errorf("%s", strings.TrimSpace(notes))
	}
	return fmt.Sprintf("%s%s\nverdict: %s\n", out, notes, verdictOf(code)), nil
}

// verdictOf names an exit code of dist.
func verdictOf(code int) string {
	names := map[int]string{1: "fail", 3: "conflict", 4: "held", 6: "skipped"}
	if name := names[code]; name != "" {
		return name
	}
	return fmt.Sprintf("exit code %d", code)
}
