// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/build/remotecache"
)

// remoteFlags name the cache of outputs that machines share.
type remoteFlags struct {
	address, trust, key string
	push                bool
}

func (r *remoteFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.address, "remote-cache", "", "registry to take outputs from, oci://HOST/REPOSITORY (default: DIST_REMOTE_CACHE)")
	flags.BoolVar(&r.push, "remote-cache-push", false, "also give it what is built here")
	flags.StringVar(&r.trust, "remote-cache-trust", "", "file with the keys that must have signed what is taken (default: ci/trust/cache.yaml, where it is)")
	flags.StringVar(&r.key, "remote-cache-key", "", "file with the key that signs what is pushed (default: DIST_REMOTE_CACHE_KEY)")
}

// remote returns the cache that a command's flags name; nil: none.
func (f *buildFlags) remote(cmd *cobra.Command, o *build.Options) (build.Remote, error) {
	r := f.remoteFlags
	flags := cmd.Flags()
	if flags.Lookup("remote-cache") == nil {
		return nil, nil // this command has none
	}
	if !flags.Changed("remote-cache") && !f.offline {
		r.address = os.Getenv("DIST_REMOTE_CACHE")
	}
	if r.address == "" {
		if r.push || r.trust != "" || r.key != "" {
			return nil, verdict.Usagef("--remote-cache-push, -trust and -key go with --remote-cache, and not with --offline")
		}
		return nil, nil
	}
	if f.offline {
		return nil, verdict.Usagef("--offline asks nobody: --remote-cache does not go with it")
	}
	if r.push && (f.noSandbox || f.hostTools) {
		return nil, verdict.Usagef("what is built with --no-sandbox or --host-tools is never pushed: leave out --remote-cache-push")
	}
	if r.key != "" && !r.push {
		return nil, verdict.Usagef("--remote-cache-key signs what is pushed: it goes with --remote-cache-push")
	}
	return r.open(o)
}

func (r *remoteFlags) open(o *build.Options) (build.Remote, error) {
	address, err := remotecache.ParseAddress(r.address)
	if err != nil {
		return nil, err
	}
	options := remotecache.Options{Address: address, Push: r.push, Progress: o.Progress}
	if r.trust == "" {
		r.trust = filepath.Join(o.Repo, "ci", "trust", "cache.yaml")
		if _, err := os.Lstat(r.trust); errors.Is(err, fs.ErrNotExist) {
			r.trust = ""
		}
	}
	if r.trust != "" {
		if options.Trust, err = remotecache.LoadTrust(r.trust); err != nil {
			return nil, err
		}
	}
	if r.key == "" {
		r.key = os.Getenv("DIST_REMOTE_CACHE_KEY")
	}
	if r.push && r.key != "" {
		if options.Signer, err = remotecache.LoadSigner(r.key); err != nil {
			return nil, err
		}
	}
	st, err := o.Cache.Store()
	if err != nil {
		return nil, err
	}
	options.Workspace = st.Workspace
	return remotecache.New(options)
}
