// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package remotecache

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// TestMain lets this test binary be the first process of a build step.
func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// BenchmarkServe makes the archive of the program 1bit from this work tree,
// with toolchain and modules at hand: once by building it, once with the output
// from a registry on loopback. Both copy the sources and pack the archive.
func BenchmarkServe(b *testing.B) {
	data, err := os.ReadFile("../../../pins/go.yaml")
	if err != nil {
		b.Fatal(err)
	}
	p, err := pins.Parse(data, "pins/go.yaml")
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer s.Close()
	address, err := ParseAddress("oci://" + strings.TrimPrefix(s.URL, "http://") + "/1bit")
	if err != nil {
		b.Fatal(err)
	}
	cache := build.Cache{Dir: b.TempDir()}
	b.Cleanup(func() { rmtree.All(cache.Dir) })
	st, err := cache.Store()
	if err != nil {
		b.Fatal(err)
	}
	if err := shareToolchain(b, st, p.Lock.Version, p.Lock.Sum); err != nil {
		b.Fatal(err)
	}
	remote, err := New(Options{Address: address, Push: true, Workspace: st.Workspace})
	if err != nil {
		b.Fatal(err)
	}
	o := build.Options{
		Repo: "../../..", Out: filepath.Join(cache.Dir, "out"), Cache: cache, Remote: remote,
		Go: build.GoPin{Version: p.Lock.Version, Sum: p.Lock.Sum, Date: p.Lock.Date},
	}
	first, err := build.Serve(b.Context(), o) // brings the modules, and pushes
	if err != nil {
		b.Fatal(err)
	}
	for _, way := range []string{"build", "pull"} {
		b.Run(way, func(b *testing.B) {
			if o.Remote = nil; way == "pull" {
				o.Remote = remote
			}
			for b.Loop() {
				b.StopTimer()
				if err := st.Remove(b.Context(), first.Key); err != nil {
					b.Fatal(err)
				}
				if err := rmtree.All(o.Out); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				r, err := build.Serve(b.Context(), o)
				if err != nil || r.Component != first.Component || (r.From != "") != (way == "pull") {
					b.Fatalf("got %+v, %v", r, err)
				}
			}
		})
	}
}

// shareToolchain links the toolchain of the user's own cache into a store: it is
// 76 MB to download.
func shareToolchain(b *testing.B, st *store.Store, version, sum string) error {
	shared, err := build.DefaultCache()
	if err != nil {
		return err
	}
	from, err := shared.Store()
	if err != nil {
		return err
	}
	g, err := toolchain.FetchGo(b.Context(), from, version, sum, nil)
	if err != nil {
		return err
	}
	entry := filepath.Dir(g.Dir)
	return os.Symlink(entry, filepath.Join(st.Dir(), "entries", filepath.Base(entry)))
}
