// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

// SVG draws the plan.
func (p *Plan) SVG() string { return "" }
