// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

type branchKind struct{ notYetKind }
type tagKind struct{ notYetKind }
type gitlinkKind struct{ notYetKind }
type fieldKind struct{ notYetKind }
