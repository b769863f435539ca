// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// newRegistry serves a registry as the host images.example; spoil may answer
// first.
func newRegistry(t *testing.T, spoil http.HandlerFunc) (*Engine, string) {
	t.Helper()
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if spoil != nil && r.Method == http.MethodGet {
			rec := &spoiled{ResponseWriter: w}
			if spoil(rec, r); rec.done {
				return
			}
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	e := newKinds(t, newSite(t))
	host := strings.TrimPrefix(s.URL, "http://")
	e.Mirrors.Images["images.example/"] = Mirror{To: host + "/"}
	return e, host
}

type spoiled struct {
	http.ResponseWriter
	done bool
}

func (s *spoiled) WriteHeader(code int) { s.done = true; s.ResponseWriter.WriteHeader(code) }
func (s *spoiled) Write(b []byte) (int, error) {
	s.done = true
	return s.ResponseWriter.Write(b)
}

func pushImage(t *testing.T, ref string, img v1.Image) string {
	t.Helper()
	tag, err := name.NewTag(ref)
	if err == nil {
		err = remote.Write(tag, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d.String()
}

func randomImage(t *testing.T) v1.Image {
	t.Helper()
	img, err := random.Image(512, 2)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func imagePin(track pins.Track) *pins.Pin {
	track.Kind, track.Image = pins.OCI, "images.example/base"
	return &pins.Pin{Name: "base", Track: track}
}

func TestImageByTag(t *testing.T) {
	e, host := newRegistry(t, nil)
	digest := pushImage(t, host+"/base:slim", randomImage(t))
	p := imagePin(pins.Track{Tag: "slim"})
	entries := locked(t, e, p)
	if p.Lock.Digest != digest || p.Lock.Version != "slim" || p.Lock.ViaMirror == nil || entries[0].Kind != "image" {
		t.Errorf("%+v %+v", p.Lock, entries[0].Record)
	}
	for _, name := range []string{"oci-layout", "index.json", "blobs/sha256/" + strings.TrimPrefix(digest, "sha256:")} {
		if _, err := os.Stat(filepath.Join(entries[0].Path, name)); err != nil {
			t.Error(err)
		}
	}
	// A tag such as this one moves.
	next := pushImage(t, host+"/base:slim", randomImage(t))
	if l, err := update(t, e, p); err != nil || l.Digest != next {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestImageByVersionAndPlatform(t *testing.T) {
	e, host := newRegistry(t, nil)
	amd, arm := randomImage(t), randomImage(t)
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: arm, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}},
		mutate.IndexAddendum{Add: amd, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}})
	tag, _ := name.NewTag(host + "/base:v1.10.0")
	if err := remote.WriteIndex(tag, index); err != nil {
		t.Fatal(err)
	}
	pushImage(t, host+"/base:v1.9.0", randomImage(t))
	pushImage(t, host+"/base:latest", randomImage(t))
	track := pins.Track{Schemes: []pins.Scheme{{Pattern: "v{semver}"}}, Platform: "linux-amd64"}
	p := imagePin(track)
	locked(t, e, p)
	if want, _ := amd.Digest(); p.Lock.Version != "v1.10.0" || p.Lock.Digest != want.String() {
		t.Errorf("%+v", p.Lock)
	}
	whole := imagePin(pins.Track{Tag: "v1.10.0"})
	locked(t, e, whole)
	if want, _ := index.Digest(); whole.Lock.Digest != want.String() {
		t.Errorf("%+v", whole.Lock)
	}
	track.Platform = "linux-riscv64"
	_, err := update(t, e, imagePin(track))
	wantError(t, err, verdict.Fail, "linux-riscv64", "linux-arm64, linux-amd64")
	// aquasecurity/trivy-action#542: a version's name is used again.
	pushImage(t, host+"/base:v1.10.0", randomImage(t))
	_, err = update(t, e, p)
	wantError(t, err, verdict.Fail, "v1.10.0", p.Lock.Digest)
}

func TestImageBadAnswers(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.WriteHeader(code)
			}
		}
	}
	tests := []struct {
		name  string
		spoil http.HandlerFunc
		want  verdict.Verdict
		words string
	}{
		{"gone", status(404), verdict.Fail, "no such image"},
		{"private", status(403), verdict.Infra, "other credentials"},
		{"limited", status(429), verdict.Infra, "registry"},
		{"other layer", func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/blobs/") {
				w.Write([]byte("something else"))
			}
		}, verdict.Infra, "registry"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, host := newRegistry(t, tt.spoil)
			pushImage(t, host+"/base:latest", randomImage(t))
			_, err := update(t, e, imagePin(pins.Track{}))
			wantError(t, err, tt.want, tt.words)
			if n := stored(t, e); n != 0 {
				t.Errorf("%d entries are in the store", n)
			}
		})
	}
}

// checkLayout finds what a registry or a disk could have done to an image.
func TestCheckLayout(t *testing.T) {
	e, host := newRegistry(t, nil)
	digest := pushImage(t, host+"/base:latest", randomImage(t))
	p := imagePin(pins.Track{})
	from := locked(t, e, p)[0].Path
	tests := map[string]func(t *testing.T, blobs, other string){
		"changed": func(t *testing.T, blobs, other string) {
			if err := os.WriteFile(filepath.Join(blobs, other), []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		},
		"missing": func(t *testing.T, blobs, other string) {
			if err := os.Remove(filepath.Join(blobs, other)); err != nil {
				t.Fatal(err)
			}
		},
		"more": func(t *testing.T, blobs, _ string) {
			if err := os.WriteFile(filepath.Join(blobs, sha("x")), []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "layout")
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { writable(dir) })
			writable(dir)
			blobs := filepath.Join(dir, "blobs", "sha256")
			list, err := os.ReadDir(blobs)
			if err != nil {
				t.Fatal(err)
			}
			other := list[0].Name()
			if "sha256:"+other == digest {
				other = list[1].Name()
			}
			os.Chmod(filepath.Join(blobs, other), 0o644)
			if err := checkLayout(dir, digest); err != nil {
				t.Fatal(err)
			}
			spoil(t, blobs, other)
			wantError(t, checkLayout(dir, digest), verdict.Fail, "not what its digest says")
		})
	}
}
