// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package git is the one way in which this project talks to git. It runs the
// system's git, 2.39 or newer, with an environment that is stated in full: no
// inherited GIT_* variable, no user or system configuration, no hooks, no
// prompts, English messages.
//
// Only these touch the network: LsRemote, Repo.Fetch, Repo.FetchObjects and
// Repo.Push. Everything else cannot: each transport is forbidden to it, and no
// remote is ever written into a repository's configuration, so that git has
// nowhere to fetch a missing object from by itself. A missing object is
// therefore always an error, never a surprise download.
//
// Limits: SHA-1 repositories only (others are refused by name); work trees are
// not used. A repository that a person configured (a checkout, not one that
// Init made) keeps its own configuration but for what is overridden here; it
// must be one that the caller trusts.
package git
