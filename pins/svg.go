// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes of the drawing, in pixels.
const (
	svgChar   = 7.6 // width of a letter, monospaced
	svgHeight = 26
	svgRow    = 38
	svgGap    = 90
	svgMargin = 20
	svgHead   = 54
)

// svgStyle follows the reader's colours, light or dark.
const svgStyle = `svg{color-scheme:light dark;background:#fff}
text{font:13px ui-monospace,monospace;fill:#1c1c1c}.head{font-weight:bold}
rect{fill:#f4f6f8;stroke:#54606c;stroke-width:1.2}.group rect{fill:#e3eefb}.repository rect{fill:#f1ead9}.stack rect{fill:#e6f3e4}
.open rect{stroke-dasharray:4 3}path{fill:none;stroke:#8a949e;stroke-width:1.2}.contract{stroke:#b3261e;stroke-dasharray:5 3}
@media(prefers-color-scheme:dark){svg{background:#14171a}text{fill:#e8eaec}
rect{fill:#22282e;stroke:#9aa5b0}.group rect{fill:#1b3049}.repository rect{fill:#3a321f}.stack rect{fill:#213a20}
path{stroke:#75808b}.contract{stroke:#ff8a80}}`

// box is a node with its place.
type box struct {
	Node
	x, y, w float64
}

// A Drawing says how a graph is drawn.
type Drawing struct {
	Title, Desc string
	Layer       func(Node) int // the column of a node, from 0
}

// SVG draws the pins: what is followed on the left, what follows to the right.
func (g *Graph) SVG() string {
	return g.Draw(Drawing{"Pins and what they follow", g.describe(), g.layers()})
}

// Draw draws a graph. The same graph gives the same bytes.
func (g *Graph) Draw(d Drawing) string {
	columns := g.columns(d.Layer)
	boxes := map[string]*box{}
	var order []*box
	x, bottom := float64(svgMargin), 0.0
	for _, column := range columns {
		w := 0.0
		for _, n := range column {
			w = max(w, float64(utf8.RuneCountInString(n.Name))*svgChar+20)
		}
		for i, n := range column {
			b := &box{n, x, float64(svgHead + i*svgRow), w}
			boxes[n.ID()] = b
			order = append(order, b)
			bottom = max(bottom, b.y+svgHeight)
		}
		x += w + svgGap
	}
	width, height := max(x-svgGap+svgMargin, 320), bottom+svgMargin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n", html.EscapeString(d.Title), html.EscapeString(d.Desc), svgStyle)
	fmt.Fprintf(&b, "<text class=\"head\" x=\"%d\" y=\"28\">%s</text>\n", svgMargin, html.EscapeString(d.Title))
	for _, e := range g.Edges {
		from, to := boxes[e.From], boxes[e.To]
		x1, y1, x2, y2 := from.x+from.w, from.y+svgHeight/2, to.x, to.y+svgHeight/2
		bend := (x2 - x1) / 2
		if x2 <= x1 { // the same column or backwards: around the right side
			x2 = to.x + to.w
			bend = svgGap / 3
			bow := 0.0
			if y1 == y2 { // not along the line that leads the other way
				bow = svgRow * 0.8
			}
			right := max(x1, x2) + bend
			fmt.Fprintf(&b, `<path class="%s" d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f">`, e.Kind, x1, y1, right, y1+bow, right, y2+bow, x2, y2)
		} else {
			fmt.Fprintf(&b, `<path class="%s" d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f">`, e.Kind, x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
		}
		fmt.Fprintf(&b, "<title>%s</title></path>\n", html.EscapeString(from.Name+" "+e.Kind+" "+to.Name))
	}
	for _, n := range order {
		class, title := string(n.Kind), string(n.Kind)+" "+n.Name
		if n.Kind == NodePin {
			title += ", " + string(n.State)
			if n.State != Verified {
				class += " open"
			}
		}
		fmt.Fprintf(&b, `<g class="%s"><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="5"/><text x="%.1f" y="%.1f">%s</text></g>`+"\n",
			class, html.EscapeString(title), n.x, n.y, n.w, svgHeight, n.x+10, n.y+svgHeight-8.5, html.EscapeString(n.Name))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// describe says in words what the drawing shows.
func (g *Graph) describe() string {
	count := map[NodeKind]int{}
	verified := 0
	for _, n := range g.Nodes {
		count[n.Kind]++
		if n.State == Verified {
			verified++
		}
	}
	return fmt.Sprintf("Pins: %d, verified (solid frames): %d, groups: %d, stacks of patches: %d. Lines lead from what is followed to what follows it; dashed red lines are contracts between pins.",
		count[NodePin], verified, count[NodeGroup], count[NodeStack])
}

// layers puts groups and repositories first, then pins by how many pins their
// version is read through, stacks last.
func (g *Graph) layers() func(Node) int {
	into := map[string][]string{}
	kind := map[string]NodeKind{}
	for _, n := range g.Nodes {
		kind[n.ID()] = n.Kind
	}
	for _, e := range g.Edges {
		if e.Kind == "of" && kind[e.From] == NodePin {
			into[e.To] = append(into[e.To], e.From)
		}
	}
	var depth func(id string, guard int) int
	depth = func(id string, guard int) int {
		d := 1
		for _, from := range into[id] {
			if guard > 0 {
				d = max(d, depth(from, guard-1)+1)
			}
		}
		return d
	}
	last := 1
	for _, n := range g.Nodes {
		if n.Kind == NodePin {
			last = max(last, depth(n.ID(), len(g.Nodes)))
		}
	}
	return func(n Node) int {
		switch n.Kind {
		case NodePin:
			return depth(n.ID(), len(g.Nodes))
		case NodeStack:
			return last + 1
		}
		return 0
	}
}

// columns sorts the nodes into their layers. Inside a layer a node stands near
// what leads to it. Empty layers are left out.
func (g *Graph) columns(layer func(Node) int) [][]Node {
	layers := map[int][]Node{}
	last := 0
	for _, n := range g.Nodes {
		l := layer(n)
		layers[l] = append(layers[l], n)
		last = max(last, l)
	}
	place := map[string]float64{}
	var columns [][]Node
	for i := 0; i <= last; i++ {
		column := layers[i]
		weight := map[string]float64{}
		for _, n := range column {
			weight[n.ID()] = g.weight(n.ID(), place)
		}
		slices.SortStableFunc(column, func(a, b Node) int { return cmp.Compare(weight[a.ID()], weight[b.ID()]) })
		for j, n := range column {
			place[n.ID()] = float64(j)
		}
		if len(column) > 0 {
			columns = append(columns, column)
		}
	}
	return columns
}

// weight is the mean place of what leads to a node; nodes without any come last.
func (g *Graph) weight(id string, place map[string]float64) float64 {
	sum, n := 0.0, 0.0
	for _, e := range g.Edges {
		if p, ok := place[e.From]; ok && e.To == id {
			sum, n = sum+p, n+1
		}
	}
	if n == 0 {
		return 1e9
	}
	return sum / n
}
