// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package proposal makes of a round what a person is asked to merge: one commit
// on top of main, its description, and a bundle with both, which go from the
// phase that runs upstream code to the one that may push. It is for the nightly
// job and for who looks at one group by hand.
//
// The two sides trust each other differently. [Prepare], [Commit] and [Make]
// work where gates run; [Verify] and [Push] where the token is. Verify takes
// nothing from the other side for granted: it makes everything again that can
// be made of main and of the round, whose digest it has from elsewhere, and
// renders all texts anew. Nothing that was fetched is ever run here.
//
// The same round gives the same commit, byte for byte, on every machine.
//
// Limits: whether the patches lead to the trees in the lock cannot be seen
// without the upstream's objects; the gates do that, and whoever builds it.
package proposal
