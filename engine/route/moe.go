// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Of the memory for --moe-slots auto, this much stays free: the larger of a
// fixed amount and a share of the whole.
const (
	moeReserve      = 8 << 30
	moeReserveShare = 15 // per cent
	moeLeast        = 64 // experts for each layer that has any
)

// moeArgs are the arguments and variables that stream experts from the file.
func (p *planner) moeArgs(m Model) (args, env []string, err error) {
	slots, err := p.r.slots()
	if err != nil {
		return nil, nil, err
	}
	if m.experts() == 0 {
		return nil, nil, fmt.Errorf("--moe-slots: %s has no experts", m.Path)
	}
	if slots < 0 {
		if slots, err = p.autoSlots(m); err != nil {
			return nil, nil, err
		}
	}
	args = []string{"-ot", "exps=CPU,per_layer_token_embd=CPU", "--no-host", "--no-repack", "--load-mode", "mmap"}
	env = []string{"ONEBIT_MOE_FILE=" + m.Path, "ONEBIT_MOE_SLOTS=" + strconv.Itoa(slots)}
	if p.r.MoEPrefetch > 0 {
		env = append(env, "ONEBIT_MOE_PREFETCH="+strconv.Itoa(p.r.MoEPrefetch))
	}
	if p.r.MoESubst != "" {
		env = append(env, "ONEBIT_MOE_SUBST="+p.r.MoESubst)
	}
	return args, env, nil
}

// autoSlots returns how many experts fit into memory beside all else: at least
// 64 for each layer with experts, at most all.
func (p *planner) autoSlots(m Model) (int, error) {
	total, available := p.h.Memory()
	if total == 0 {
		return 0, fmt.Errorf("--moe-slots auto: it is unknown how much memory is free here; give a number")
	}
	s := sizesOf(m)
	if !s.known || s.layers == 0 || s.experts == 0 {
		return 0, fmt.Errorf("--moe-slots auto: %s has tensors of a type whose size is unknown here; give a number", m.Path)
	}
	all := s.layers * m.experts()
	mean := max(s.experts/all, 1)
	free := available - s.others - max(moeReserve, total*moeReserveShare/100)
	return int(min(max(free/mean, moeLeast*s.layers), all)), nil
}

// sizes are bytes of a model's tensors.
type sizes struct {
	experts int64 // of all experts
	layers  int64 // that have experts
	others  int64 // that go to the GPU
	known   bool
}

func sizesOf(m Model) sizes {
	s := sizes{known: true}
	layers := map[string]bool{}
	for _, h := range m.Headers {
		for _, t := range h.Tensors {
			n, ok := t.Bytes()
			s.known = s.known && ok
			switch {
			case strings.Contains(t.Name, "exps"):
				s.experts += int64(n)
				layer := strings.Join(strings.SplitN(t.Name, ".", 3)[:min(2, strings.Count(t.Name, ".")+1)], ".")
				layers[layer] = true
			case !strings.Contains(t.Name, "per_layer_token_embd"):
				s.others += int64(n)
			}
		}
	}
	s.layers = int64(len(layers))
	return s
}

// systemMemory reads /proc/meminfo; zeros where there is none.
func systemMemory() (total, available int64) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "MemTotal:":
			total = n << 10
		case "MemAvailable:":
			available = n << 10
		}
	}
	return total, available
}
