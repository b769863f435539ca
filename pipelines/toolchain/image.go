// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// defaultPlatform is taken of an image index where the pin names none.
const defaultPlatform = "linux-amd64"

// unpackImage makes a root file system of an image's layers, in order. The
// store's layout was held against the digest when it came; each layer is
// summed once more as it is read.
func unpackImage(ctx context.Context, pin *pins.Pin, entries []*store.Entry, dir string) error {
	if len(entries) != 1 {
		return fmt.Errorf("%d entries came for one image", len(entries))
	}
	index, err := layout.ImageIndexFromPath(entries[0].Path)
	if err != nil {
		return fmt.Errorf("its layout: %w", err)
	}
	digest, err := v1.NewHash(pin.Lock.Digest)
	if err != nil {
		return verdict.Failf("its digest: %w", err)
	}
	image, err := imageOf(index, digest, pin.Track.Platform)
	if err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return fmt.Errorf("its layers: %w", err)
	}
	tree, err := unpack.Begin(dir, unpack.RootFS(), unpack.Replace(), unpack.AllowGit(),
		unpack.SetidBits(unpack.ClearSetid), unpack.ModTime(timeOfAll(pin.Lock)))
	if err != nil {
		return err
	}
	defer tree.Discard()
	for i, l := range layers {
		if err := tree.Layer(ctx, func() (io.ReadCloser, error) { return openLayer(l) }); err != nil {
			return fmt.Errorf("layer %d: %w", i+1, err)
		}
	}
	return tree.Commit()
}

// imageOf returns the image that a digest names, or of an index that it names
// the one for the platform.
func imageOf(index v1.ImageIndex, digest v1.Hash, platform string) (v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("its index: %w", err)
	}
	for _, d := range m.Manifests {
		if d.Digest != digest {
			continue
		}
		if !d.MediaType.IsIndex() {
			return index.Image(digest)
		}
		inner, err := index.ImageIndex(digest)
		if err != nil {
			return nil, fmt.Errorf("its index: %w", err)
		}
		return forPlatform(inner, platform)
	}
	return nil, verdict.Failf("its layout has no image %s", digest)
}

func forPlatform(index v1.ImageIndex, platform string) (v1.Image, error) {
	if platform == "" {
		platform = defaultPlatform
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("its index: %w", err)
	}
	for _, d := range m.Manifests {
		if p := d.Platform; p != nil && strings.HasPrefix(platform+"-", p.OS+"-"+p.Architecture+"-") {
			return index.Image(d.Digest)
		}
	}
	return nil, verdict.Failf("its index has no image for %s", platform)
}

// openLayer opens a layer as it was packed; its end is an error if its content
// is not what its digest says.
func openLayer(l v1.Layer) (io.ReadCloser, error) {
	digest, err := l.Digest()
	if err != nil {
		return nil, err
	}
	r, err := l.Compressed()
	if err != nil {
		return nil, err
	}
	return &summed{ReadCloser: r, h: sha256.New(), want: digest}, nil
}

// summed holds what was read against a digest when it is closed.
type summed struct {
	io.ReadCloser
	h    hash.Hash
	want v1.Hash
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.h.Write(p[:n])
	return n, err
}

func (s *summed) Close() error {
	_, err := io.Copy(io.Discard, s)
	err = errors.Join(err, s.ReadCloser.Close())
	if got := fmt.Sprintf("sha256:%x", s.h.Sum(nil)); err == nil && got != s.want.String() {
		err = verdict.Failf("it is %s, and should be %s: nothing of it is used", got, s.want)
	}
	return err
}
