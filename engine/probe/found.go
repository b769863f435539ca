// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/route"
)

// Programs looks for the program of each device, and asks the llama-servers
// among them what they list, unless that is not wanted: a first question may
// take seconds, for a driver that compiles shaders.
func Programs(ctx context.Context, r route.Request, h route.Host, question bool) (map[devices.Name]Found, error) {
	found := map[devices.Name]Found{}
	asked := map[string]*ability.Program{}
	for _, d := range devices.All() {
		if d == devices.Auto {
			continue
		}
		path, err := route.Find(d, r, h)
		if err != nil {
			found[d] = Found{Absent: strings.TrimPrefix(err.Error(), "--device "+string(d)+": ")}
			continue
		}
		found[d] = Found{Program: path}
		if question && (d.Llama() != "" || d == devices.CPU) {
			asked[path] = nil
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, path := range slices.Collect(maps.Keys(asked)) {
		all.Go(func() {
			p, err := h.Able(ctx, path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				asked[path] = &p
			}
		})
	}
	all.Wait()
	for d, f := range found {
		if p := asked[f.Program]; p != nil {
			f.Able = p
			found[d] = f
		}
	}
	return found, ctx.Err()
}
