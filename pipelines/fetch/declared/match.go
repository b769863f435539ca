// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Reason says why an input does not cover a download.
type Reason string

// The reasons.
const (
	Unlisted Reason = "unlisted" // no input names it
	Changed  Reason = "changed"  // an unused input names the file, whose content has changed since
	Differs  Reason = "differs"  // an input names the place, but another version or sum
)

// An Uncovered is a red download without an input.
type Uncovered struct {
	Declared
	Reason Reason `json:"reason"`
	Input  string `json:"input,omitempty"` // name of the input that nearly covers it
	Detail string `json:"detail,omitempty"`
}

// Sentence says what is wrong and what to do, in one inert line.
func (u Uncovered) Sentence() string {
	at := fmt.Sprintf("%s:%d: ", inert.Line(u.File, 200), u.Line)
	what := u.what()
	switch u.Reason {
	case Changed:
		return at + fmt.Sprintf("%s: the input %s says unused, but the file has changed since (%s); look again and write its new sha256, or list the download", what, u.Input, u.Detail)
	case Differs:
		return at + fmt.Sprintf("%s: the input %s is for something else: %s; lock it again", what, u.Input, u.Detail)
	}
	return at + what + " is in no input of the pin; list it in inputs, or as unused with the reason and the file's sha256 " + cmp.Or(u.SHA256, "(not known)")
}

func (d Declared) what() string {
	var b strings.Builder
	b.WriteString(inert.Line(cmp.Or(d.Command, string(d.Kind)), 60))
	if d.Kind == Unread {
		return "a build file that could not be looked at: " + inert.Line(d.Problem, 200)
	}
	for _, s := range []string{d.Name, d.URL} {
		if s != "" {
			b.WriteString(" " + inert.Line(s, 200))
		}
	}
	if d.Count > 0 {
		fmt.Fprintf(&b, " (%d packages)", d.Count)
	}
	return b.String()
}

// A Stale is an unused input that stands for nothing any more.
type Stale struct {
	Input pins.Input `json:"input"`
	Why   string     `json:"why"`
}

// Sentence says so in one line.
func (s Stale) Sentence() string {
	return fmt.Sprintf("input %s: %s; remove it", s.Input.Name, s.Why)
}

// A Result is what Match found.
type Result struct {
	Uncovered []Uncovered `json:"uncovered,omitempty"` // in the order of the downloads
	Stale     []Stale     `json:"stale,omitempty"`     // in the order of the inputs
}

// Err is nil when every red download is covered; stale inputs are no error.
func (r Result) Err() error {
	if len(r.Uncovered) == 0 {
		return nil
	}
	return &Error{r.Uncovered}
}

// An Error is downloads that no input covers.
type Error struct{ Uncovered []Uncovered }

func (e *Error) Error() string {
	lines := make([]string, len(e.Uncovered))
	for i, u := range e.Uncovered {
		lines[i] = u.Sentence()
	}
	return strings.Join(lines, "\n")
}

// Match says which red downloads the inputs of a pin do not cover.
//
// An unused input covers what its file declares (only what is at its URL,
// where it has one), as long as the file has the sha256 that the input states.
// A git or file input covers what its file declares at its address; where the
// file asks for a commit or a SHA-256, that must be the input's, and for a tag
// the input's rev. Go, Cargo and npm inputs cover the manifests and lock files
// of their folder and below it, and the commands that install what a lock file
// names. A submodule is covered by the lock's submodules, at its commit.
// Declarations with variables that are not known match an address that has
// anything in their place.
func Match(list []Declared, inputs []pins.Input, submodules []pins.Submodule) Result {
	var r Result
	used := make([]bool, len(inputs))
	declares := map[string]bool{}
	for _, d := range list {
		declares[d.File] = true
		best := Uncovered{Declared: d, Reason: Unlisted}
		covered := d.Kind == Submodule && slices.ContainsFunc(submodules, func(s pins.Submodule) bool {
			return s.Path == d.Name && s.Commit == d.Rev
		})
		for i, in := range inputs {
			ok, reason, detail := covers(in, d)
			if ok {
				covered = true
				used[i] = true
			}
			if reason != "" {
				best.Reason, best.Input, best.Detail = reason, in.Name, detail
				used[i] = true // it is reported as it is
			}
		}
		if d.Red() && !covered {
			r.Uncovered = append(r.Uncovered, best)
		}
	}
	for i, in := range inputs {
		switch {
		case in.Kind != pins.InputUnused || used[i]:
		case !declares[in.DeclaredIn]:
			r.Stale = append(r.Stale, Stale{in, fmt.Sprintf("%s declares no download", in.DeclaredIn)})
		default:
			r.Stale = append(r.Stale, Stale{in, fmt.Sprintf("%s no longer declares %s", in.DeclaredIn, in.URL)})
		}
	}
	return r
}

// covers reports whether an input stands for a download, or why it nearly
// does.
func covers(in pins.Input, d Declared) (ok bool, reason Reason, detail string) {
	same := in.DeclaredIn == d.File
	switch in.Kind {
	case pins.InputUnused:
		switch {
		case !same || in.URL != "" && !sameAddress(d.URL, in.URL):
			return false, "", ""
		case in.SHA256 != d.SHA256 || d.SHA256 == "":
			return false, Changed, "now sha256 " + cmp.Or(d.SHA256, "not known")
		}
		return true, "", ""
	case pins.InputGit:
		if !same || !sameAddress(d.URL, in.URL) {
			return false, "", ""
		}
		if want := strings.ToLower(d.Rev); commitRE.MatchString(want) {
			if want != in.Commit {
				return false, Differs, "the file asks for commit " + want + ", the input has " + in.Commit
			}
		} else if d.Rev != in.Rev && !strings.Contains(d.Rev, "${") {
			return false, Differs, fmt.Sprintf("the file asks for %s, the input was locked for %s",
				cmp.Or(inert.Line(d.Rev, 100), "the default branch"), cmp.Or(in.Rev, "the default branch"))
		}
		return true, "", ""
	case pins.InputFile:
		if !same || !sameAddress(d.URL, in.URL) {
			return false, "", ""
		}
		if alg, sum, ok := strings.Cut(d.Hash, "="); ok && strings.EqualFold(alg, "SHA256") && sha256RE.MatchString(strings.ToLower(sum)) {
			if sum = strings.ToLower(sum); sum != in.SHA256 {
				return false, Differs, "the file wants sha256 " + sum + ", the input has " + in.SHA256
			}
		}
		return true, "", ""
	case pins.InputGoModules:
		return manifest(in, d, d.Kind == GoModules, "go get", "go mod download", "go mod vendor", "go mod tidy")
	case pins.InputCargoVendor:
		return manifest(in, d, d.Kind == CargoLock || d.Kind == CargoGit, "cargo fetch", "cargo vendor")
	case pins.InputNPM:
		return manifest(in, d, d.Kind == NPM, "npm ci", "npm install", "npm i", "yarn install", "pnpm install", "pnpm i")
	}
	return false, "", ""
}

// manifest is covers for inputs that are found through a lock file.
func manifest(in pins.Input, d Declared, kind bool, commands ...string) (bool, Reason, string) {
	if d.Kind == Script {
		// With no package named, such a command installs what the lock file has.
		return slices.Contains(commands, d.Command) && d.Name == "", "", ""
	}
	dir := path.Dir(in.DeclaredIn)
	if !kind || dir != "." && d.File != in.DeclaredIn && !strings.HasPrefix(d.File, dir+"/") {
		return false, "", ""
	}
	// A lock file of its own further down needs an input of its own.
	if d.File != in.DeclaredIn && (path.Base(d.File) == path.Base(in.DeclaredIn) || isLock(d.File)) {
		return false, "", ""
	}
	if d.File == in.DeclaredIn && in.SHA256 != "" && in.SHA256 != d.SHA256 {
		return false, Differs, "it was made from another state of the file, with sha256 " + in.SHA256
	}
	return true, "", ""
}

func isLock(p string) bool {
	switch path.Base(p) {
	case "Cargo.lock", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "go.mod":
		return true
	}
	return false
}

var (
	commitRE = regexp.MustCompile(`^[0-9a-f]{40}$`)
	sha256RE = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// sameAddress compares a declared address with an input's: the scheme's and
// host's case, a final slash and .git do not count, and each ${…} of the
// declared one stands for any text.
func sameAddress(declared, input string) bool {
	if input == "" || declared == "" {
		return false
	}
	d, in := normal(declared), normal(input)
	if !strings.Contains(d, "${") {
		return d == in
	}
	parts := variableRE.Split(d, -1)
	if len(strings.Join(parts, "")) < len("https://x") {
		return false // made of variables alone: it could be anything
	}
	rest, ok := strings.CutPrefix(in, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+len(p):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

var variableRE = regexp.MustCompile(`\$\{[^{}]*\}`)

func normal(u string) string {
	u = strings.TrimSuffix(strings.TrimRight(strings.TrimPrefix(u, "git+"), "/"), ".git")
	if i := strings.Index(u, "://"); i >= 0 {
		host, rest, _ := strings.Cut(u[i+3:], "/")
		u = strings.ToLower(u[:i+3]+host) + "/" + rest
		if rest == "" {
			u = u[:len(u)-1]
		}
	}
	return u
}
