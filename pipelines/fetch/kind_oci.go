// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// ociKind follows an image by a tag, or by the highest of its tags. With a
// platform the lock's digest is that of the platform's own manifest, without
// one that of whatever the tag names.
type ociKind struct{}

var _ kind = ociKind{}

// An image is where one is read.
type image struct {
	repo     name.Repository
	options  []remote.Option
	standsIn string
}

func (e *Engine) image(ctx context.Context, p *pins.Pin) (*image, error) {
	place := e.Mirrors.Image(p.Track.Image)
	repo, err := name.NewRepository(place.URL)
	if err != nil {
		return nil, verdict.Failf("%w", err)
	}
	through := e.HTTP.Transport()
	if place.Mapped {
		through = e.HTTP.MappedTransport()
	}
	return &image{repo: repo, standsIn: place.StandsIn, options: []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(through), remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithJobs(e.jobs()), remote.WithUserAgent("1bit-dist"),
		remote.WithRetryBackoff(remote.Backoff{Duration: 300 * time.Millisecond, Factor: 3, Jitter: 0.2, Steps: 3}),
	}}, nil
}

func (k ociKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (c *Candidate, err error) {
	if err := e.online("its newest image"); err != nil {
		return nil, err
	}
	im, err := e.image(ctx, p)
	if err != nil {
		return nil, err
	}
	tag := p.Track.Tag
	if len(p.Track.Schemes) > 0 {
		if tag, err = k.highest(im, p); err != nil {
			return nil, err
		}
	} else if tag == "" {
		tag = "latest"
	}
	return k.at(e, p, im, tag)
}

// find implements finder: rev is a tag.
func (k ociKind) find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (c *Candidate, err error) {
	if err := e.online("the image " + rev); err != nil {
		return nil, err
	}
	im, err := e.image(ctx, p)
	if err != nil {
		return nil, err
	}
	return k.at(e, p, im, rev)
}

// highest picks the highest of all tags.
func (k ociKind) highest(im *image, p *pins.Pin) (string, error) {
	schemes, err := pins.NewSchemes(&p.Track)
	if err != nil {
		return "", err
	}
	tags, err := remote.List(im.repo, im.options...)
	if err != nil {
		return "", explainRegistry(err)
	}
	best, _, err := schemes.Newest(tags)
	return best, err
}

// at asks what a tag names now.
func (k ociKind) at(e *Engine, p *pins.Pin, im *image, tag string) (*Candidate, error) {
	ref, err := name.NewTag(im.repo.Name()+":"+tag, name.StrictValidation)
	if err != nil {
		return nil, verdict.Failf("%w", err)
	}
	desc, err := remote.Get(ref, im.options...)
	if err != nil {
		return nil, explainRegistry(err)
	}
	digest := desc.Digest
	if p.Track.Platform != "" && desc.MediaType.IsIndex() {
		index, err := desc.ImageIndex()
		if err != nil {
			return nil, explainRegistry(err)
		}
		if digest, err = forPlatform(index, p.Track.Platform); err != nil {
			return nil, err
		}
	}
	if digest.Algorithm != "sha256" {
		return nil, verdict.Failf("its digest %s is no sha256", shown(digest.String()))
	}
	c := &Candidate{Version: tag, Digest: digest.String(), StandsIn: im.standsIn}
	// A tag that is a version stays where it is; one like "latest" moves.
	if l := p.Lock; l != nil && len(p.Track.Schemes) > 0 && l.Version == tag && l.Digest != c.Digest {
		return nil, &Replaced{Name: p.Track.Image, Version: tag, Old: l.Digest, New: c.Digest}
	}
	return c, nil
}

// forPlatform returns the digest of the one manifest for a platform, such as
// linux-amd64 or linux-arm-v7.
func forPlatform(index v1.ImageIndex, platform string) (v1.Hash, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return v1.Hash{}, verdict.Failf("its index can not be read (%w)", err)
	}
	var there []string
	for _, d := range m.Manifests {
		if d.Platform == nil {
			continue
		}
		is := d.Platform.OS + "-" + d.Platform.Architecture
		if is == platform || d.Platform.Variant != "" && is+"-"+d.Platform.Variant == platform {
			return d.Digest, nil
		}
		if !slices.Contains(there, is) {
			there = append(there, is)
		}
	}
	return v1.Hash{}, verdict.Failf("it has no image for %s: there are %s", platform, shown(strings.Join(there, ", ")))
}

func (k ociKind) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (l *pins.Lock, err error) {
	entry, err := k.entry(ctx, e, p, c.Digest)
	if err != nil {
		return nil, err
	}
	if p.Lock != nil && p.Lock.Digest == c.Digest && p.Lock.Version == c.Version {
		return unchanged(p), nil
	}
	return viaMirror(&pins.Lock{Version: c.Version, Digest: c.Digest, Date: layoutDate(entry.Path, c.Digest)}, c.StandsIn), nil
}

func (k ociKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) (entries []*store.Entry, err error) {
	if p.Lock == nil || p.Lock.Digest == "" {
		return nil, notLocked(p)
	}
	entry, err := k.entry(ctx, e, p, p.Lock.Digest)
	if err != nil {
		return nil, err
	}
	return []*store.Entry{entry}, nil
}

// entry returns an image as an OCI layout in the store, under the digest of its
// manifest. The digest stands for everything below it, and each part of it is
// held against its own.
func (k ociKind) entry(ctx context.Context, e *Engine, p *pins.Pin, digest string) (*store.Entry, error) {
	key, err := store.KeyOf(digest)
	if err != nil {
		return nil, err
	}
	return e.Store.Put(ctx, key, store.Maker{
		Kind: "image",
		Name: p.Track.Image + "@" + digest,
		Fill: func(ctx context.Context, path string) error {
			if err := e.online("the image " + digest); err != nil {
				return err
			}
			im, err := e.image(ctx, p)
			if err != nil {
				return err
			}
			ref, err := name.NewDigest(im.repo.Name() + "@" + digest)
			if err != nil {
				return verdict.Failf("%w", err)
			}
			e.Progress.Step("downloading the image %s", shown(ref.Name()))
			desc, err := remote.Get(ref, im.options...)
			if err != nil {
				return explainRegistry(err)
			}
			return explainRegistry(writeLayout(path, desc))
		},
		Check: func(path, _ string) error { return checkLayout(path, digest) },
	})
}

// explainRegistry gives an error of a registry its verdict.
func explainRegistry(err error) error {
	var answer *transport.Error
	var refused *httpget.Refused
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case !errors.As(err, &answer):
		if verdict.Of(err) != verdict.Fail || errors.As(err, new(*wrongLayout)) {
			return err
		}
		return verdict.Infraf("the registry can not be read: %w", oneLine{err})
	case answer.StatusCode == http.StatusNotFound:
		return verdict.Failf("the registry has no such image: %w", oneLine{err})
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		return verdict.Infraf("the registry wants other credentials, or has no such image: log in with your container tool (%w)", oneLine{err})
	}
	return verdict.Infraf("the registry does not answer well: %w", oneLine{err})
}

// oneLine shows an error with text of a server safely.
type oneLine struct{ err error }

func (e oneLine) Error() string { return shown(e.err.Error()) }
func (e oneLine) Unwrap() error { return e.err }

// wrongLayout says that an image has other content than its digest.
type wrongLayout struct{ what string }

func (e *wrongLayout) Error() string {
	return fmt.Sprintf("the image is not what its digest says: %s; nothing of it is used", e.what)
}
