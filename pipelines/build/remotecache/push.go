// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/1bit-MONSTER/engine/internal/archive"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// Push implements build.Remote. An entry that readers would take is left as it
// is, also where this machine built something else from the same inputs: that
// is told.
func (c *Cache) Push(ctx context.Context, o build.Offered) {
	if !c.o.Push || !c.open(&c.pushes) {
		return
	}
	err := c.push(ctx, o)
	switch {
	case err == nil:
		c.well(&c.pushes)
	case ctx.Err() == nil:
		c.failed(&c.pushes, o.Entry.Name+" is not pushed", err)
	}
}

func (c *Cache) push(ctx context.Context, o build.Offered) error {
	there, err := c.there(ctx, o.Entry)
	if err != nil || there {
		return err
	}
	work, done, err := c.o.Workspace()
	if err != nil {
		return wrongf("%v", err)
	}
	defer done()
	layer, err := pack(filepath.Join(work, "pushed.tar.zst"), o)
	if err != nil {
		return wrongf("%v", err)
	}
	e := o.Entry
	r := &Record{
		Schema: 1, Key: e.Key, Recipe: e.Name, Sum: e.Sum, Files: len(o.Files), Size: e.Size,
		Archive: Archive{Digest: layer.digest.String(), Size: layer.size},
	}
	if err := r.check(e.Key, e.Name); err != nil {
		return fmt.Errorf("nobody would take it: %w", err)
	}
	sealed, err := seal(r, c.o.Signer)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(withMost(ctx, maxAnswer), c.limits.transfer(layer.size))
	defer cancel()
	if err := c.upload(ctx, e.Key, static.NewLayer(sealed, envelopeType), layer); err != nil {
		return err
	}
	c.refuse(e.Key, false)
	c.o.Progress.Step("%s: pushed to %s (%.1f MB)", e.Name, c.o.Address, float64(layer.size)/1e6)
	return nil
}

// there says whether the registry has an entry that readers would take.
func (c *Cache) there(ctx context.Context, e *store.Entry) (bool, error) {
	if c.isRefused(e.Key) {
		return false, nil
	}
	r, _, err := c.ask(ctx, e.Key, e.Name)
	var wrong *wrong
	switch {
	case errors.Is(err, errAbsent), errors.As(err, &wrong):
		return false, nil
	case err != nil:
		return false, err
	}
	if r.Sum != e.Sum {
		c.o.Progress.Step("warning: remote cache %s: its %s is %s, and this machine built %s from the same inputs: see 'dist reproduce %s'",
			c.o.Address, e.Name, r.Sum, e.Sum, e.Name)
	}
	return true, nil
}

// upload sends config and content, then the manifest that makes them an entry.
func (c *Cache) upload(ctx context.Context, key store.Key, config v1.Layer, content *fileLayer) error {
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: ArtifactType}
	for _, l := range []v1.Layer{content, config} {
		if err := c.pusher.Upload(ctx, c.o.Address.repo, l); err != nil {
			return err
		}
	}
	size, err := config.Size()
	if err != nil {
		return err
	}
	digest, err := config.Digest()
	if err != nil {
		return err
	}
	m.Config = v1.Descriptor{MediaType: envelopeType, Size: size, Digest: digest}
	m.Layers = []v1.Descriptor{{MediaType: contentType, Size: content.size, Digest: content.digest}}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.pusher.Put(ctx, c.o.Address.repo.Tag(string(key)), manifest(raw))
}

// pack writes an entry's files as an archive. Each is held against its sum, so
// that what somebody changed in the store is not passed on.
func pack(name string, o build.Offered) (*fileLayer, error) {
	var files []archive.File
	for _, f := range o.Files {
		local := filepath.Join(o.Entry.Path, filepath.FromSlash(f.Path))
		a := archive.File{Name: f.Path, Size: f.Size, Exec: f.Mode == "100755"}
		if f.Mode == "120000" {
			target, err := os.Readlink(local)
			if sum := sha256.Sum256([]byte(target)); err != nil || hex.EncodeToString(sum[:]) != f.SHA256 {
				return nil, changed(f.Path)
			}
			a.Link = target
		} else {
			a.Open = func() (io.ReadCloser, error) {
				r, err := os.Open(local)
				if err != nil {
					return nil, err
				}
				return &summed{r, sha256.New(), f}, nil
			}
		}
		files = append(files, a)
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	n := &counter{}
	if err := archive.Write(io.MultiWriter(out, h, n), "", o.Time, files); err != nil {
		out.Close()
		return nil, err
	}
	return &fileLayer{name, v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(h.Sum(nil))}, n.n}, out.Close()
}

func changed(path string) error {
	return wrongf("%s is not as it was when it was built: run 'dist store verify --repair'", path)
}

// summed is a file that must have a sum when it was read to its end.
type summed struct {
	file *os.File // not embedded: it can write itself, past our Read
	h    hash.Hash
	f    store.File
}

func (s *summed) Close() error { return s.file.Close() }

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.h.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(s.h.Sum(nil)) != s.f.SHA256 {
		return n, changed(s.f.Path)
	}
	return n, err
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// A fileLayer is a layer that lies on the disk.
type fileLayer struct {
	name   string
	digest v1.Hash
	size   int64
}

var _ v1.Layer = (*fileLayer)(nil)

func (l *fileLayer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *fileLayer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *fileLayer) Size() (int64, error)                 { return l.size, nil }
func (l *fileLayer) MediaType() (types.MediaType, error)  { return contentType, nil }
func (l *fileLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.name) }
func (l *fileLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.name) }

// A manifest is one as it is sent.
type manifest []byte

func (m manifest) RawManifest() ([]byte, error)        { return m, nil }
func (m manifest) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
