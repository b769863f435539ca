// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// writeLayout writes an image, or an index with all of its images, as an OCI
// layout.
func writeLayout(path string, desc *remote.Descriptor) error {
	l, err := layout.Write(path, empty.Index)
	if err != nil {
		return err
	}
	if desc.MediaType.IsIndex() {
		index, err := desc.ImageIndex()
		if err != nil {
			return err
		}
		return l.AppendIndex(index)
	}
	image, err := desc.Image()
	if err != nil {
		return err
	}
	return l.AppendImage(image)
}

// A manifest is what is needed of an image's or an index's.
type manifest struct {
	Config    *descriptor  `json:"config"`
	Layers    []descriptor `json:"layers"`
	Manifests []descriptor `json:"manifests"`
}

type descriptor struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// checkLayout sums every blob of a layout, and sees that all that the digest
// leads to is there and nothing else.
func checkLayout(path, digest string) error {
	blobs := filepath.Join(path, "blobs", "sha256")
	left := map[string]int64{}
	err := filepath.WalkDir(blobs, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum, err := sumFile(name)
		if err == nil && sum != d.Name() {
			err = &wrongLayout{"the part " + shown(d.Name()) + " has the sum " + sum}
		}
		left[d.Name()] = info.Size()
		return err
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	if err := followManifest(blobs, digest, left, seen, 0); err != nil {
		return err
	}
	for name := range left {
		if !seen[name] {
			return &wrongLayout{"the part " + name + " belongs to nothing"}
		}
	}
	return nil
}

func followManifest(blobs, digest string, left map[string]int64, seen map[string]bool, depth int) error {
	sum := strings.TrimPrefix(digest, "sha256:")
	if _, ok := left[sum]; !ok {
		return &wrongLayout{"the part " + shown(digest) + " is missing"}
	}
	if depth > 4 {
		return &wrongLayout{"indexes are inside each other"}
	}
	if seen[sum] {
		return nil
	}
	seen[sum] = true
	data, err := os.ReadFile(filepath.Join(blobs, sum))
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return &wrongLayout{fmt.Sprintf("the manifest %s can not be read", sum)}
	}
	if m.Config != nil {
		m.Layers = append(m.Layers, *m.Config)
	}
	for _, d := range m.Layers {
		sum := strings.TrimPrefix(d.Digest, "sha256:")
		size, ok := left[sum]
		if !ok || size != d.Size {
			return &wrongLayout{"the part " + shown(d.Digest) + " is missing or has another size"}
		}
		seen[sum] = true
	}
	for _, d := range m.Manifests {
		if err := followManifest(blobs, d.Digest, left, seen, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// layoutDate is when an image says that it was made; zero for an index.
func layoutDate(path, digest string) time.Time {
	var m manifest
	var config struct {
		Created time.Time `json:"created"`
	}
	read := func(digest string, into any) error {
		sum := strings.TrimPrefix(digest, "sha256:")
		if !isSHA256(sum) {
			return errors.New("no sum")
		}
		data, err := os.ReadFile(filepath.Join(path, "blobs", "sha256", sum))
		if err != nil {
			return err
		}
		return json.Unmarshal(data, into)
	}
	if read(digest, &m) != nil || m.Config == nil || read(m.Config.Digest, &config) != nil {
		return time.Time{}
	}
	return config.Created.UTC()
}
