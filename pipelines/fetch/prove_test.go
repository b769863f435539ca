// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// forge puts other content into the store, with a record that fits it.
func forge(t *testing.T, s *store.Store, key store.Key) {
	t.Helper()
	e, err := s.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(t.TempDir(), "content")
	if err := os.CopyFS(from, os.DirFS(e.Path)); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), key, store.Maker{
		Kind: e.Kind, Name: e.Name, Check: func(string, string) error { return nil },
		Fill: func(_ context.Context, path string) error {
			return errors.Join(os.CopyFS(path, os.DirFS(from)), filepath.WalkDir(path, func(name string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				os.Chmod(name, 0o644)
				f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = f.WriteString("bad")
				}
				return errors.Join(err, f.Close())
			}))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Verify(key); d != nil {
		t.Fatalf("the test needs an entry that its record is right about: %+v", d)
	}
}

// What a store says of itself proves nothing: content of another making is
// found for all kinds of key.
func TestProve(t *testing.T) {
	w := newWorld(t)
	sub, up := gittest.New(t), gittest.New(t)
	s := sub.Commit("main", "sub", gittest.Files{"s": "s"})
	up.Commit("main", "one", modules("sub", "../sub.git"), gittest.Submodule("sub", s))
	w.local("x", up)
	w.local("sub", sub)
	w.pin("x", followMain)
	w.must("x")
	registry, host := newRegistry(t, nil)
	img, err := random.Image(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	pushImage(t, host+"/team/tool:latest", img)
	image := &pins.Pin{Name: "tool", Track: pins.Track{Kind: pins.OCI, Image: "images.example/team/tool"}}
	locked(t, registry, image)
	newProxy(t, "v1.9.0")
	modules := newKinds(t, newSite(t))
	module := modulePin(pins.Track{})
	locked(t, modules, module)
	for _, c := range []struct {
		what string
		e    *Engine
		p    *pins.Pin
		sum  string
	}{
		{"a source with a submodule", w.e, w.get("x"), w.get("x").Lock.Sum},
		{"an image", registry, image, image.Lock.Digest},
		{"a Go module", modules, module, module.Lock.Sum},
	} {
		e := *c.e
		e.Offline = true
		if err := e.Prove(t.Context(), c.p); err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		key, err := store.KeyOf(c.sum)
		if err != nil {
			t.Fatal(err)
		}
		forge(t, e.Store, key)
		if err := e.Prove(t.Context(), c.p); verdict.Of(err) != verdict.Fail || !strings.HasPrefix(err.Error(), "pin "+c.p.Name) {
			t.Errorf("%s, forged: %v", c.what, err)
		}
	}
}

// A model's revision with the same files is no version to move to.
func TestResolveTheSameFiles(t *testing.T) {
	m := newModel(t)
	add := func(n int, config string) {
		m.tree = nil
		m.file(n, "config.json", config, false)
		m.file(n, "weights/a.safetensors", "weights!", true)
		m.publish(n)
	}
	add(1, "{}")
	p := modelPin()
	locked(t, m.e, p)
	m.e.Set = &pins.Set{Pins: []*pins.Pin{p}}
	add(2, "{}")
	r := m.e.Resolve(t.Context(), []*pins.Pin{p}, nil)
	if x := r.Members[0]; x.Err != nil || x.Moves() || x.ID != commitID(1) {
		t.Errorf("%+v", x)
	}
	add(3, "{ }") // other content, and longer
	add(4, "[]")  // as long, and other content
	r = m.e.Resolve(t.Context(), []*pins.Pin{p}, nil)
	if x := r.Members[0]; x.Err != nil || !x.Moves() || x.ID != commitID(4) {
		t.Errorf("%+v", x)
	}
	to := wantedOf(r)
	add(5, "{5}")
	var gone *NotAnyMore
	if err := m.e.Resolve(t.Context(), []*pins.Pin{p}, to).Members[0].Err; !errors.As(err, &gone) {
		t.Errorf("%v", err)
	}
}
