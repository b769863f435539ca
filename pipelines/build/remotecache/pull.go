// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// errAbsent says that the registry has no such entry.
var errAbsent = errors.New("no such entry")

// Pull implements build.Remote.
func (c *Cache) Pull(ctx context.Context, want build.Wanted, dir string) (from string, ok bool) {
	if !c.open(&c.pulls) {
		return "", false
	}
	err := c.pull(ctx, want, dir)
	if err == nil {
		c.well(&c.pulls)
		return c.o.Address.String(), true
	}
	rmtree.All(dir)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, errAbsent):
		c.well(&c.pulls)
	default:
		c.refuse(want.Key, true)
		c.failed(&c.pulls, want.Recipe+" is not taken from there", err)
	}
	return "", false
}

func (c *Cache) pull(ctx context.Context, want build.Wanted, dir string) error {
	r, layer, err := c.ask(ctx, want.Key, want.Recipe)
	if err != nil {
		return err
	}
	c.o.Progress.Step("%s: taking it from %s (%.1f MB)", want.Recipe, c.o.Address, float64(layer.Size)/1e6)
	name := filepath.Join(filepath.Dir(dir), "pulled.tar.zst")
	defer os.Remove(name)
	if err := c.download(ctx, layer, name); err != nil {
		return err
	}
	if err := c.unpack(ctx, r, name, dir); err != nil {
		return err
	}
	got, err := treesum.FromFolder(dir, treesum.FolderOptions{})
	if err != nil {
		return err
	}
	if got.Sum != r.Sum || got.Files != r.Files || got.Bytes != r.Size {
		return wrongf("its %d files have the sum %s, where its record says %d and %s", got.Files, got.Sum, r.Files, r.Sum)
	}
	if err := want.Check(dir); err != nil {
		return wrongf("%s", inert.Line(err.Error(), 300))
	}
	return nil
}

// ask returns the record of an entry and its layer, after all that can be told
// without the layer was looked at.
func (c *Cache) ask(ctx context.Context, key store.Key, recipe string) (*Record, v1.Descriptor, error) {
	ctx, cancel := context.WithTimeout(withMost(ctx, maxAnswer), c.limits.ask)
	defer cancel()
	none := v1.Descriptor{}
	desc, err := c.puller.Get(ctx, c.o.Address.repo.Tag(string(key)))
	var answer *transport.Error
	if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound && about(answer, "manifests") {
		return nil, none, errAbsent
	}
	if err != nil {
		return nil, none, err
	}
	config, layer, err := layerOf(desc.MediaType, desc.Manifest)
	if err != nil {
		return nil, none, err
	}
	var data bytes.Buffer
	if err := c.blob(ctx, config, &data); err != nil {
		return nil, none, err
	}
	r, e, payload, err := open(data.Bytes())
	if err != nil {
		return nil, none, err
	}
	if c.o.Trust != nil {
		if err := c.o.Trust.check(e, payload, c.now()); err != nil {
			return nil, none, err
		}
	}
	if err := r.check(key, recipe); err != nil {
		return nil, none, err
	}
	if r.Archive.Digest != layer.Digest.String() || r.Archive.Size != layer.Size {
		return nil, none, wrongf("its record is that of another archive")
	}
	return r, layer, nil
}

// blob copies a blob to w, if it is what its digest says.
func (c *Cache) blob(ctx context.Context, d v1.Descriptor, w io.Writer) error {
	layer, err := c.puller.Layer(ctx, c.o.Address.repo.Digest(d.Digest.String()))
	if err != nil {
		return err
	}
	body, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer body.Close()
	h := sha256.New()
	// One byte more than it should have tells that it has more.
	n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(body, d.Size+1))
	var late *slow
	switch {
	case err == nil && n == d.Size && hex.EncodeToString(h.Sum(nil)) == d.Digest.Hex:
		return nil
	case errors.As(err, &late), err != nil && ctx.Err() != nil, isLocal(err):
		return err
	case n < d.Size:
		return &cutShort{n, d.Size}
	}
	return wrongf("it sends other bytes than those of the digest")
}

// cutShort is a blob that ended too early.
type cutShort struct{ got, want int64 }

func (e *cutShort) Error() string {
	return fmt.Sprintf("it broke off after %d of %d bytes", e.got, e.want)
}

// download writes a layer to a new file.
func (c *Cache) download(ctx context.Context, layer v1.Descriptor, name string) error {
	ctx, cancel := context.WithTimeout(withMost(ctx, layer.Size+maxAnswer), c.limits.transfer(layer.Size))
	defer cancel()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := c.blob(ctx, layer, f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// unpack makes the folder dir from an archive, within what the record states.
func (c *Cache) unpack(ctx context.Context, r *Record, name, dir string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	entries := min(r.Files*65, 1<<20) // with the folders around each
	return unpack.Tar(ctx, f, dir,
		unpack.MaxBytes(r.Size+int64(entries)*2048+1<<20), unpack.MaxEntries(entries), unpack.MaxRatio(maxRatio, ratioFrom))
}

// isLocal says whether this machine failed to keep what came.
func isLocal(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}
