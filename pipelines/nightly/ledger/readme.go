// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

// readmeName is a file at the branch's root, for people who find it.
const readmeName = "README.md"

const readme = `# What the nights remember

This branch is the memory of the nightly job of the 1bit engine distribution. It
has no history in common with main and is never merged.

- events/GROUP/YEAR-MONTH.jsonl: what happened to a group of pins, a line of
  JSON each, in the order in which it was written down. Lines are only ever
  added.
- A line that cannot be read is skipped, and every run names it.
- Everything in a line that came from an upstream (names of versions, reasons)
  is untrusted text.

Nothing here says what is built: that is in pins/ on main. If this branch is
lost, the job starts to count anew: how long a version has been known, and how
often it was tried. Bumps may come later, and no wrong one comes.

Read it with 'dist nightly status' and 'dist nightly explain GROUP'. To try a
round again that was given up, use 'dist nightly retry GROUP' rather than an
editor.
`
