// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/1bit-MONSTER/engine/pipelines/inputs"

	"dagger/onebit/internal/dagger"
)

// walls lets tests make the sandbox in which the host runner builds: namespaces,
// which a container of an engine otherwise refuses. Only code of this repository
// runs so.
var walls = dagger.ContainerWithExecOpts{InsecureRootCapabilities: true}

// Run the tests, and say what it came to
//
// The report ends with the real programs that tests used, and the line "N passed, N
// failed, N skipped". It needs the inputs of "checks".
func (m *Onebit) Test(
	ctx context.Context,

	// The packages to test, as "go test" takes them.
	// +default=["./..."]
	packages []string,
) (string, error) {
	ctr, err := m.dist(ctx, inputs.Checks)
	if err != nil {
		return "", err
	}
	run := walls
	run.Expect, run.RedirectStdout = dagger.ReturnTypeAny, outDir+"/tests.json"
	ctr = goCaches(ctr).WithExec(append([]string{"go", "test", "-json", "-timeout", "10m"}, packages...), run)
	return report(ctx, ctr, dagger.ContainerWithExecOpts{RedirectStdin: outDir + "/tests.json"}, "ci", "summarize")
}

// Run everything that must hold before a change is merged (.ci/run)
//
// Real programs that .ci/run installs from Debian are not installed here; tests that
// need them are skipped and counted as skipped. It needs the inputs of "checks".
//
// +check
func (m *Onebit) Check(ctx context.Context) error {
	ctr, err := m.base(ctx, inputs.Checks)
	if err != nil {
		return err
	}
	_, err = goCaches(ctr).
		WithExec([]string{"git", "init", "--quiet"}).
		WithExec([]string{"git", "add", "--all"}).
		WithEnvVariable("PARTS", "none").
		WithExec([]string{"bash", ".ci/run"}, walls).
		Sync(ctx)
	return err
}

// Play nights of the nightly job against small local upstreams
//
// It shows what a night does with a version that ripens, a conflict, a tag that
// moved, a hold. Nothing of yours is asked or changed. The folder has report.txt,
// which names what to look at, and in rehearsal the pages and proposals. It needs
// the inputs of "checks".
func (m *Onebit) Rehearse(ctx context.Context) (*dagger.Directory, error) {
	ctr, err := m.dist(ctx, inputs.Checks)
	if err != nil {
		return nil, err
	}
	run := walls
	run.Expect = dagger.ReturnTypeAny
	played := ctr.WithWorkdir(outDir).
		WithExec([]string{distPath, "rehearse", "--repo", repoDir, "--out", outDir + "/rehearsal"}, run)
	text, err := reportOf(ctx, played)
	if err != nil {
		return nil, err
	}
	return played.Directory(outDir).WithNewFile("report.txt", text), nil
}

// Build what is published: the archive of 1bit, its sum and its record
//
// SHA256SUMS is in the form of sha256sum; build.json is what "dist build --json" says.
func (m *Onebit) ReleaseAssets(ctx context.Context) (*dagger.Directory, error) {
	ctr, err := m.dist(ctx, "serve")
	if err != nil {
		return nil, err
	}
	built := ctr.WithExec([]string{distPath, "build", "--runner", "dagger", "--json", "--out", outDir}, nested)
	text, err := built.Stdout(ctx) // which also runs it
	if err != nil {
		return nil, err
	}
	var r struct{ Archive, SHA256 string }
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("what dist build says: %w", err)
	}
	return built.Directory(outDir).
		WithNewFile("SHA256SUMS", fmt.Sprintf("%s  %s\n", r.SHA256, path.Base(r.Archive))).
		WithNewFile("build.json", text), nil
}
