// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// TestLinuxRecipeBuildsTheNPUDriver runs the recipe linux on Debian's sources
// of the kernel, up to the packages: instead of these it makes the one module
// that the recipe is for. It takes minutes, and the toolchain from the cache
// (DIST_CACHE) or else from Debian's archive, so it must be asked for with
// ONEBIT_SLOW=linux.
func TestLinuxRecipeBuildsTheNPUDriver(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("ONEBIT_SLOW"), ","), "linux") {
		t.Skip("skipped: slow: run it with ONEBIT_SLOW=linux -timeout 1h")
	}
	archive := parts.Need(t, "linux-source-7.3").Path
	runner, err := NewHostRunner(t.Context(), Sandboxed)
	var unavailable *sandbox.Unavailable
	if errors.As(err, &unavailable) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := npuDriverRecipe(t)
	in := &Inputs{Recipe: r.Name, Sources: []Sum{{"linux", archive}}, Steps: r.Steps, Outputs: r.Outputs, Epoch: 1767225600}
	key, err := in.Key()
	if err != nil {
		t.Fatal(err)
	}
	cache := Cache{t.TempDir()}
	st, err := cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rmtree.All(cache.Dir) })
	b := &Builder{Store: st, Cache: cache, Runner: runner, Provider: kernelProvider{
		given:  given{map[string]string{"linux": unpacked(t, archive)}},
		Locked: lockedToolchains(t),
	}}
	built, err := b.one(t.Context(), &PlannedComponent{Recipe: r, Name: r.Name, Inputs: in, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range built.Steps {
		t.Logf("%s: %v, %d MiB", s.Name, s.Wall.Round(1e7), s.PeakMemory>>20)
	}
	module, err := elf.Open(filepath.Join(built.Path, "amdxdna.ko"))
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	info, err := module.Section(".modinfo").Data()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"name=amdxdna\x00", "vermagic=7.3.", "-1bit ", "license=GPL"} {
		if !strings.Contains(string(info), want) {
			t.Errorf("its .modinfo lacks %q: %q", want, info)
		}
	}
}

// npuDriverRecipe is the recipe linux with the driver in the place of packages.
func npuDriverRecipe(t *testing.T) *Recipe {
	t.Helper()
	r := linuxRecipe()
	packages := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Name == "packages" })
	if packages < 0 {
		t.Fatal("the recipe has no step packages")
	}
	const module = "drivers/accel/amdxdna/amdxdna.ko"
	r.Steps = append(r.Steps[:packages:packages],
		// Without the rest of the kernel the symbols of others are unknown.
		Step{Name: "module", Args: append(slices.Clone(kernelMake), "KBUILD_MODPOST_WARN=1", module)},
		Step{Name: "collect", Args: []string{"install", "-m", "644", "/build/linux/" + module, "/out/amdxdna.ko"}})
	r.Outputs = []string{"amdxdna.ko"}
	return r
}

func unpacked(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-C", dir, "--strip-components=1", "-xf", archive).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// lockedToolchains provides the toolchains of this repository's pins.
func lockedToolchains(t *testing.T) *Locked {
	t.Helper()
	set, err := pins.Load("../../pins")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	st, err := cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	client, err := httpget.New(httpget.WithAllowHTTP())
	if err != nil {
		t.Fatal(err)
	}
	return &Locked{Engine: &fetch.Engine{Set: set, Store: st, CacheDir: cache.Dir, HTTP: client, Mirrors: &fetch.Mirrors{}}}
}

// kernelProvider gives sources of the test and toolchains of the locks.
type kernelProvider struct {
	given
	*Locked
}

func (k kernelProvider) Source(ctx context.Context, pin string) (string, error) {
	return k.given.Source(ctx, pin)
}

func (k kernelProvider) Input(ctx context.Context, pin, name string) (string, error) {
	return k.given.Input(ctx, pin, name)
}

func (k kernelProvider) Toolchain(ctx context.Context, pin string) (string, error) {
	return k.Locked.Toolchain(ctx, pin)
}
