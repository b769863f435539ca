// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// The header that every file of a distribution has.
const header = "# Copyright 2026 The 1bit engine authors\n# SPDX-License-Identifier: Apache-2.0\n\n"

// PinFile writes a pin on an upstream of a world; track is the value of that
// key in braces, rest further lines.
func PinFile(name, what, track, rest string) string {
	return fmt.Sprintf("%sname: %s\nwhat: %s\nupstream: %s%s.git\nlicense: MIT\ncopyright: [\"2026 The upstream authors\"]\nuse: child\ntrack: %s\n%s",
		header, name, what, Host, name, track, rest)
}

// followMain is the track of most pins.
const followMain = "{kind: git-branch, branch: main}"

// Common are the files that each distribution has. The policy lets versions
// move at once, where their pin does not ask for more.
func Common() Files {
	return Files{
		"LICENSE":          "Apache-2.0\n",
		"go.mod":           "module github.com/1bit-MONSTER/engine\n\ngo 1.26\n",
		"ci/archive.yaml":  header + "remotes:\n  - url: " + ArchiveURL + "\n",
		"ci/nightly.yaml":  header + "tries: 3\nmin-age: 1h\nalarm-after: 72h\nlease: 6h\n",
		"pins/groups.yaml": header + "[]\n",
	}
}

// goPinFile is the pin of the Go toolchain as the real distribution has it. No
// night of the rehearsal asks for a newer one.
func goPinFile(g build.GoPin) string {
	return fmt.Sprintf(`%sname: go
what: the Go toolchain
license: BSD-3-Clause
copyright: ["2009 The Go Authors"]
use: build-tool
track:
  kind: go-module
  module: golang.org/toolchain
  platform: linux-amd64
  schemes:
    - {pattern: 'v0.0.1-go{go}.linux-amd64'}
  every: never
lock:
  version: %s
  sum: %s
  date: %s
`, header, g.Version, g.Sum, g.Date.Format(time.RFC3339))
}

// story is the distribution that the rehearsal plays with.
func story(ctx context.Context, g build.GoPin) Distribution {
	files := Common()
	files["pins/go.yaml"] = goPinFile(g)
	files["pins/groups.yaml"] = header + `- name: paint
  members: [canvas, ink]
  order: 1
  contracts:
    - user: {pin: canvas, files: ['**/*.go'], pattern: 'Ink[A-Za-z0-9]+'}
      provider: {pin: ink, files: ['*.go']}
`
	files["pins/hello.yaml"] = PinFile("hello", "a program that changes without trouble", followMain, "")
	files["pins/greet.yaml"] = PinFile("greet", "a program that we patch", followMain, "stack: greet\n")
	files["pins/canvas.yaml"] = PinFile("canvas", "a package that uses ink", followMain, "")
	files["pins/ink.yaml"] = PinFile("ink", "a package that canvas uses", followMain, "")
	files["pins/chime.yaml"] = PinFile("chime", "a package with versions", "{kind: git-tag, schemes: [{pattern: 'v{semver}'}]}", "")
	files["pins/steady.yaml"] = PinFile("steady", "a package that is held for a while", followMain, "")
	files["pins/fresh.yaml"] = PinFile("fresh", "a package whose versions must ripen", "{kind: git-branch, branch: main, min-age: 24h}", "")
	return Distribution{
		Files:     files,
		Stacks:    map[string]Ours{"greet": greetOurs},
		Upstreams: func(w *World) error { return firstUpstreams(ctx, w) },
	}
}

// goMod is the go.mod of an upstream.
func goMod(name string) string { return "module upstream.invalid/" + name + "\n\ngo 1.26\n" }

// firstUpstreams makes all upstreams as they are before the first night.
func firstUpstreams(ctx context.Context, w *World) error {
	for _, u := range []struct {
		name  string
		files Files
	}{
		{"hello", Files{"main.go": helloMain("hello")}},
		{"greet", Files{"main.go": greetMain, "greeting.go": greeting, "ending.go": ending}},
		{"canvas", Files{"canvas.go": canvas("InkLine(w) + ink.InkFill(w, h)"), "go.work": "go 1.26\n\nuse (\n\t.\n\t../ink\n)\n"}},
		{"ink", Files{"ink.go": inkBoth}},
		{"chime", Files{"chime.go": "package chime\n\nconst Notes = 3\n"}},
		{"steady", Files{"steady.go": "package steady\n\nconst Pace = 1\n"}},
		{"fresh", Files{"fresh.go": "package fresh\n\nconst Days = 1\n"}},
	} {
		u.files["go.mod"] = goMod(u.name)
		id, err := w.push(ctx, u.name, "Begin "+u.name, u.files)
		if err == nil && u.name == "chime" {
			err = w.tag(ctx, u.name, "v1.0.0", id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// push adds a commit to the main of an upstream.
func (w *World) push(ctx context.Context, name, message string, files Files) (git.ID, error) {
	r, err := w.Upstream(ctx, name)
	if err != nil {
		return "", err
	}
	return r.Commit(ctx, "main", message, files)
}

func (w *World) tag(ctx context.Context, name, tag string, id git.ID) error {
	r, err := w.Upstream(ctx, name)
	if err != nil {
		return err
	}
	return r.Tag(ctx, tag, id)
}

// goRecipe builds a Go program or package as the recipes of the distribution
// do: in a sandbox, with nothing but the pinned Go and the pins' sources.
func goRecipe(name, output string, more ...string) *build.Recipe {
	all := append([]string{name}, more...)
	env := []string{
		"GOENV=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOSUMDB=off", "GOVCS=*:off", "GOWORK=off",
		"GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "CGO_ENABLED=0",
		"GOROOT=/go", "GOMODCACHE=/build/mod", "GOCACHE=/build/cache", "GOTMPDIR=/build", "PATH=/go/bin",
	}
	if len(more) > 0 {
		env[6] = "GOWORK=/src/" + name + "/go.work"
	}
	return &build.Recipe{
		Name: name, What: "what the upstream " + name + " makes", Pins: all, Toolchain: "go", Env: env,
		Steps: []build.Step{{
			Name: "compile", Dir: "/src/" + name,
			Args: []string{"go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", "/out/" + output, "."},
		}},
		Outputs: []string{output},
	}
}

// recipes are the components of the story's distribution.
func recipes() []*build.Recipe {
	return []*build.Recipe{
		goRecipe("hello", "hello"),
		goRecipe("greet", "greet"),
		goRecipe("canvas", "canvas.a", "ink"),
		goRecipe("chime", "chime.a"),
		goRecipe("steady", "steady.a"),
		goRecipe("fresh", "fresh.a"),
	}
}

// The sources of the upstreams.

func helloMain(word string) string {
	return "package main\n\nfunc main() { println(\"" + word + "\") }\n"
}

const greetMain = `package main

func main() {
	println(greeting("world") + ending())
}
`

const greeting = `package main

// greeting returns what is said to somebody.
func greeting(name string) string {
	text := "hello, "
	return text + name
}
`

// greetNobody is our first patch, which upstream takes one day.
var greetNobody = strings.Replace(greeting, "	text :=", "	if name == \"\" {\n		return \"is anybody there?\"\n	}\n	text :=", 1)

const ending = `package main

// ending returns what a greeting ends with.
func ending() string {
	mark := "."
	return mark
}
`

// greetOurs are our patches on greet.
var greetOurs = Ours{
	{"Greet nobody too\n\nUpstream-Status: submitted " + Host + "greet/1", Files{"greeting.go": greetNobody}},
	{"Be loud\n\nUpstream-Status: inappropriate [our taste]", Files{"ending.go": endingLoud}},
}

// endingLoud is our second patch; endingAsk is what upstream makes of the same
// line, so that the patch conflicts with it.
var (
	endingLoud = strings.Replace(ending, `"."`, `"!"`, 1)
	endingAsk  = strings.Replace(ending, `"."`, `"?"`, 1)
)

// canvas is a package that calls ink.
func canvas(call string) string {
	return `package canvas

import "upstream.invalid/ink"

// Area returns how much ink a picture takes.
func Area(w, h int) int { return ink.` + call + ` }
`
}

const inkBoth = `package ink

// InkLine returns the ink of a line.
func InkLine(length int) int { return length }

// InkFill returns the ink of an area.
func InkFill(w, h int) int { return w * h }
`

// inkRenamed has no InkFill any more, but a name that begins so: a look for the
// text alone would find it.
const inkRenamed = `package ink

// InkLine returns the ink of a line.
func InkLine(length int) int { return length }

// InkFillArea returns the ink of an area.
func InkFillArea(area int) int { return area }
`
