// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package toolchain

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain/toolchaintest"
)

// imageOfLayers makes an image of tars.
func imageOfLayers(t testing.TB, layers ...[]file) v1.Image {
	t.Helper()
	image := v1.Image(empty.Image)
	for _, files := range layers {
		data := toolchaintest.Tar(files)
		l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
		if err != nil {
			t.Fatal(err)
		}
		if image, err = mutate.AppendLayers(image, l); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

// A pulled image lies as fetch puts it into the store: an OCI layout, here by
// way of a registry.
type pulled struct{ dir string }

func (p pulled) Content(context.Context, *pins.Pin) ([]*store.Entry, error) {
	return []*store.Entry{{Path: p.dir}}, nil
}

func pull(t testing.TB, push func(name.Reference) error) (*pins.Pin, pulled) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/tools/image:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := push(ref); err != nil {
		t.Fatal(err)
	}
	desc, err := remote.Get(ref)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "layout")
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if desc.MediaType.IsIndex() {
		index, err := desc.ImageIndex()
		if err == nil {
			err = l.AppendIndex(index)
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		image, err := desc.Image()
		if err == nil {
			err = l.AppendImage(image)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pin := &pins.Pin{Name: "image", Use: pins.BuildTool, Track: pins.Track{Kind: pins.OCI, Image: "registry.example/tools/image"},
		Lock: &pins.Lock{Version: "1", Digest: desc.Digest.String(), Date: lockDate}}
	return pin, pulled{dir}
}

func TestImageLayers(t *testing.T) {
	const symlink, dir, hard = tar.TypeSymlink, tar.TypeDir, tar.TypeLink
	base := []file{
		{Name: "usr/bin/", Type: dir}, {Name: "bin", Text: "usr/bin", Type: symlink}, {Name: "usr/bin/sh", Text: "shell", Mode: 0o755},
		{Name: "etc/a", Text: "a"}, {Name: "etc/b", Text: "b"}, {Name: "opt/x/1", Text: "1"}, {Name: "opt/x/2", Text: "2"},
	}
	const before = "bin -> usr/bin\netc/a 444 \"a\"\netc/b 444 \"b\"\nopt/x/1 444 \"1\"\nopt/x/2 444 \"2\"\nusr/bin/sh 555 \"shell\"\n"
	without := func(lines ...string) string {
		s := before
		for _, l := range lines {
			s = strings.Replace(s, l+"\n", "", 1)
		}
		return s
	}
	for _, c := range []struct {
		name  string
		layer []file
		want  string // the listing, or what the error says
	}{
		{"nothing", nil, before},
		{"a file replaced", []file{{Name: "etc/a", Text: "A"}}, strings.Replace(before, `"a"`, `"A"`, 1)},
		{"a file removed", []file{{Name: "etc/.wh.a"}}, without(`etc/a 444 "a"`)},
		{"a folder removed", []file{{Name: "opt/.wh.x"}}, without(`opt/x/1 444 "1"`, `opt/x/2 444 "2"`)},
		{"removed through a link", []file{{Name: "bin/.wh.sh"}}, without(`usr/bin/sh 555 "shell"`)},
		{"a folder emptied, its mark last", []file{{Name: "opt/x/3", Text: "3"}, {Name: "opt/x/.wh..wh..opq"}},
			strings.Replace(without(`opt/x/1 444 "1"`), `opt/x/2 444 "2"`, `opt/x/3 444 "3"`, 1)},
		{"removed and made anew", []file{{Name: "etc/a", Text: "new"}, {Name: "etc/.wh.a"}}, strings.Replace(before, `"a"`, `"new"`, 1)},
		{"what is not there removed", []file{{Name: "no/such/.wh.file"}, {Name: "etc/.wh.none"}}, before},
		{"a file for a folder", []file{{Name: "opt/x", Text: "file"}}, strings.Replace(without(`opt/x/1 444 "1"`), `opt/x/2 444 "2"`, `opt/x 444 "file"`, 1)},
		{"a folder for a file", []file{{Name: "etc/a/", Type: dir}, {Name: "etc/a/in", Text: "in"}}, strings.Replace(before, `etc/a 444 "a"`, `etc/a/in 444 "in"`, 1)},
		{"through a link of the layer below", []file{{Name: "bin/new", Text: "new"}}, strings.Replace(before, "usr/bin/sh", "usr/bin/new 444 \"new\"\nusr/bin/sh", 1)},
		{"a folder where a link to one is", []file{{Name: "bin/", Type: dir}}, before},
		{"a hard link to the layer below", []file{{Name: "etc/c", Text: "etc/b", Type: hard}}, strings.Replace(before, "opt/x/1", "etc/c 444 \"b\"\nopt/x/1", 1)},
		{"a setuid file", []file{{Name: "etc/a", Text: "s", Mode: 0o4755}}, strings.Replace(before, `444 "a"`, `555 "s"`, 1)},
		{"a mark for nothing", []file{{Name: "etc/.wh."}}, "marks nothing"},
		{"a mark for the folder above", []file{{Name: "etc/.wh..."}}, "marks nothing"},
		{"a mark outside", []file{{Name: "../.wh.a"}}, `".."`},
		{"a device", []file{{Name: "dev/null", Type: tar.TypeChar}}, "device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pin, contents := pull(t, func(ref name.Reference) error { return remote.Write(ref, imageOfLayers(t, base, c.layer)) })
			st := newStore(t)
			got, err := Fetch(t.Context(), st, contents, pin, nil)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || c.want == before {
					t.Errorf("error %v, want %q", err, c.want)
				}
				nothing(t, st, pin)
				return
			}
			if got := listing(t, got); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestImageOfAnIndex(t *testing.T) {
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: imageOfLayers(t, []file{{Name: "arm", Text: "a"}}), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}},
		mutate.IndexAddendum{Add: imageOfLayers(t, []file{{Name: "amd", Text: "a"}}), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}})
	for platform, want := range map[string]string{"": "amd 444 \"a\"\n", "linux-amd64": "amd 444 \"a\"\n", "linux-arm64": "arm 444 \"a\"\n"} {
		pin, contents := pull(t, func(ref name.Reference) error { return remote.WriteIndex(ref, index) })
		pin.Track.Platform = platform
		dir, err := Fetch(t.Context(), newStore(t), contents, pin, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := listing(t, dir); got != want {
			t.Errorf("%q: got %s, want %s", platform, got, want)
		}
	}
	pin, contents := pull(t, func(ref name.Reference) error { return remote.WriteIndex(ref, index) })
	pin.Track.Platform = "linux-riscv64"
	if _, err := Fetch(t.Context(), newStore(t), contents, pin, nil); err == nil || !strings.Contains(err.Error(), "no image for linux-riscv64") {
		t.Errorf("error %v", err)
	}
}

// A layer that changed after it came is seen, and nothing of it used.
func TestImageDamaged(t *testing.T) {
	image, err := random.Image(2000, 3)
	if err != nil {
		t.Fatal(err)
	}
	pin, contents := pull(t, func(ref name.Reference) error { return remote.Write(ref, image) })
	st := newStore(t)
	if _, err := Fetch(t.Context(), st, contents, pin, nil); err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[1].Digest()
	if err != nil {
		t.Fatal(err)
	}
	other := toolchaintest.Tar([]file{{Name: "evil", Text: "evil"}})
	if err := os.WriteFile(filepath.Join(contents.dir, "blobs", "sha256", digest.Hex), other, 0o644); err != nil {
		t.Fatal(err)
	}
	st = newStore(t)
	if _, err := Fetch(t.Context(), st, contents, pin, nil); err == nil || !strings.Contains(err.Error(), "nothing of it is used") {
		t.Errorf("error %v", err)
	}
	nothing(t, st, pin)
}
