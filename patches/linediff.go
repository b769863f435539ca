// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import "strings"

// costLimit is how many differing lines the search for the shortest script
// follows at once before it takes the best split so far. It bounds the time on
// files that have little in common; the result stays a function of the input.
const costLimit = 2000

// splitLines cuts a text behind each newline.
func splitLines(text string) []string {
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for len(text) > 0 {
		i := strings.IndexByte(text, '\n') + 1
		if i == 0 {
			i = len(text)
		}
		lines = append(lines, text[:i])
		text = text[i:]
	}
	return lines
}

// diffLines tells which lines of a are gone and which lines of b are new. What
// is left of both is the same: by Myers' algorithm a longest common sequence,
// but for texts that differ by more than costLimit lines.
func diffLines(a, b []string) (gone, fresh []bool) {
	gone, fresh = make([]bool, len(a)), make([]bool, len(b))
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	// Lines become numbers. Those that the other side does not have at all are
	// decided at once.
	number := map[string]int{}
	for _, l := range a[head : len(a)-tail] {
		if _, ok := number[l]; !ok {
			number[l] = len(number)
		}
	}
	inB := make([]bool, len(number))
	d := &differ{gone: gone, fresh: fresh}
	for i := head; i < len(b)-tail; i++ {
		if n, ok := number[b[i]]; ok {
			inB[n] = true
			d.b = append(d.b, n)
			d.atB = append(d.atB, i)
		} else {
			fresh[i] = true
		}
	}
	for i := head; i < len(a)-tail; i++ {
		if n := number[a[i]]; inB[n] {
			d.a = append(d.a, n)
			d.atA = append(d.atA, i)
		} else {
			gone[i] = true
		}
	}
	size := 2*(len(d.a)+len(d.b)) + 3
	d.forward, d.backward = make([]int, size), make([]int, size)
	d.compare(0, len(d.a), 0, len(d.b))
	slide(a, gone)
	slide(b, fresh)
	return gone, fresh
}

type differ struct {
	a, b              []int // lines as numbers
	atA, atB          []int // where they are in the texts
	gone, fresh       []bool
	forward, backward []int // furthest x by diagonal
}

// compare marks what differs between a[a0:a1] and b[b0:b1].
func (d *differ) compare(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		for ; a0 < a1; a0++ {
			d.gone[d.atA[a0]] = true
		}
		for ; b0 < b1; b0++ {
			d.fresh[d.atB[b0]] = true
		}
		return
	}
	x, y := d.middle(a0, a1, b0, b1)
	d.compare(a0, x, b0, y)
	d.compare(x, a1, y, b1)
}

// middle returns a point on a shortest path through the box, near its middle:
// Myers, "An O(ND) Difference Algorithm and Its Variations", section 4b. The
// first and last lines of both sides differ here, so both parts are smaller
// than the box.
func (d *differ) middle(a0, a1, b0, b1 int) (x, y int) {
	n, m := a1-a0, b1-b0
	delta := n - m
	odd := delta%2 != 0
	origin := len(d.forward) / 2
	f, r := d.forward, d.backward
	f[origin+1], r[origin+1] = 0, 0
	for cost := 0; ; cost++ {
		best, bestX, bestY := -1, 0, 0
		for k := -cost; k <= cost; k += 2 {
			if k < -m || k > n {
				continue
			}
			var x int
			if k == -cost || k == -m || k != cost && k != n && f[origin+k-1] < f[origin+k+1] {
				x = f[origin+k+1]
			} else {
				x = f[origin+k-1] + 1
			}
			y := x - k
			if x > n || y < 0 || y > m {
				f[origin+k] = x
				continue
			}
			for x < n && y < m && d.a[a0+x] == d.b[b0+y] {
				x, y = x+1, y+1
			}
			f[origin+k] = x
			if x+y > best && x+y < n+m {
				best, bestX, bestY = x+y, x, y
			}
			if back := delta - k; odd && back >= -(cost-1) && back <= cost-1 && back >= -m && back <= n && x+r[origin+back] >= n {
				return a0 + x, b0 + y
			}
		}
		for k := -cost; k <= cost; k += 2 {
			if k < -m || k > n {
				continue
			}
			var x int
			if k == -cost || k == -m || k != cost && k != n && r[origin+k-1] < r[origin+k+1] {
				x = r[origin+k+1]
			} else {
				x = r[origin+k-1] + 1
			}
			y := x - k
			if x > n || y < 0 || y > m {
				r[origin+k] = x
				continue
			}
			for x < n && y < m && d.a[a1-1-x] == d.b[b1-1-y] {
				x, y = x+1, y+1
			}
			r[origin+k] = x
			if front := delta - k; !odd && front >= -cost && front <= cost && front >= -m && front <= n && x+f[origin+front] >= n {
				return a1 - x, b1 - y
			}
		}
		if cost >= costLimit && best > 0 {
			return a0 + bestX, b0 + bestY
		}
	}
}

// slide moves each run of changed lines down as far as its lines allow, so
// that what was put between two like things starts where a person would say.
func slide(lines []string, changed []bool) {
	for i := 0; i < len(lines); {
		if !changed[i] {
			i++
			continue
		}
		start := i
		for i < len(lines) && changed[i] {
			i++
		}
		for i < len(lines) && lines[start] == lines[i] {
			changed[start], changed[i] = false, true
			start++
			for i < len(lines) && changed[i] {
				i++
			}
		}
	}
}
