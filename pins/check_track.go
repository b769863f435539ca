// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"path"
	"reflect"
	"strings"
)

// A kindRule says what a kind of track has.
type kindRule struct {
	upstream bool     // the pin needs the address of a repository
	commit   bool     // its versions are commits
	need     []string // keys of the track that it must have
	may      []string // keys that it may have
}

// kinds is what each kind of track has; kind, min-age and every go with all.
var kinds = map[Kind]kindRule{
	GitBranch:     {upstream: true, commit: true, need: []string{"branch"}},
	GitTag:        {upstream: true, commit: true, need: []string{"schemes"}, may: []string{"ignore", "prerelease"}},
	GithubRelease: {upstream: true, commit: true, need: []string{"newest"}, may: []string{"assets", "schemes", "ignore", "prerelease"}},
	Gitlink:       {upstream: true, commit: true, need: []string{"of", "path"}, may: []string{"branch", "allowed-urls"}},
	Field:         {need: []string{"of", "path", "key"}, may: []string{"branch", "files"}},
	Index:         {need: []string{"url", "format"}, may: []string{"select", "platforms", "mutable-name", "schemes", "ignore", "prerelease"}},
	HuggingFace:   {commit: true, need: []string{"repo"}, may: []string{"revision", "include", "exclude"}},
	GoModule:      {need: []string{"module"}, may: []string{"platform", "schemes", "ignore", "prerelease"}},
	Deb:           {need: []string{"packages", "suite", "pocket", "platform"}},
	OCI:           {need: []string{"image"}, may: []string{"tag", "platform", "schemes", "ignore", "prerelease"}},
	Manual:        {need: []string{"reason"}},
}

// Kinds returns all kinds of track, in the order of this file's documentation.
func Kinds() []Kind {
	return []Kind{GitBranch, GitTag, GithubRelease, Gitlink, Field, Index, HuggingFace, GoModule, Deb, OCI, Manual}
}

func (c *checker) track(p *Pin) {
	t := &p.Track
	words := make([]any, 0, len(kinds))
	for _, k := range Kinds() {
		words = append(words, k)
	}
	c.oneOf("track.kind", t.Kind, true, words)
	rule, ok := kinds[t.Kind]
	if !ok {
		return
	}
	c.keys(t, rule, p.lines)
	c.oneOf("track.every", t.Every, false, []any{EveryDay, EveryWeek, EveryMonth, EveryNever})
	c.oneOf("track.prerelease", t.Prerelease, false, []any{PrereleaseNo, PrereleaseYes, PrereleaseBeforeRelease})
	c.oneOf("track.newest", t.Newest, false, []any{NewestLatest, NewestHighest})
	c.oneOf("track.pocket", t.Pocket, false, []any{PocketRelease, PocketUpdates, PocketSecurity, PocketBackports})
	if t.Newest == NewestHighest && len(t.Schemes) == 0 {
		c.problem("track.newest", "the highest version needs schemes to compare by")
	}
	c.schemes(t)
	for key, list := range map[string][]string{"assets": t.Assets, "include": t.Include, "exclude": t.Exclude} {
		for i, g := range list {
			c.glob(fmt.Sprintf("track.%s[%d]", key, i), g)
		}
	}
	for key, list := range map[string][]string{"platforms": t.Platforms, "packages": t.Packages} {
		for i, s := range list {
			c.word(fmt.Sprintf("track.%s[%d]", key, i), s)
		}
	}
	for key, s := range map[string]string{
		"branch": t.Branch, "revision": t.Revision, "module": t.Module, "platform": t.Platform,
		"suite": t.Suite, "image": t.Image, "tag": t.Tag, "repo": t.Repo,
	} {
		if s != "" {
			c.word("track."+key, s)
		}
	}
	c.sources(t)
}

// keys holds the track to the keys of its kind.
func (c *checker) keys(t *Track, rule kindRule, lines map[string]int) {
	allowed := map[string]bool{"kind": true, "min-age": true, "every": true}
	for _, k := range rule.may {
		allowed[k] = true
	}
	for _, k := range rule.need {
		allowed[k] = true
		if _, ok := lines["track."+k]; !ok {
			c.problem("track", "a %s track needs %s", t.Kind, k)
		}
	}
	v := reflect.TypeOf(*t)
	for i := range v.NumField() {
		key := v.Field(i).Tag.Get("yaml")
		if _, ok := lines["track."+key]; ok && !allowed[key] {
			c.problem("track."+key, "a %s track has no %s", t.Kind, key)
		}
	}
}

// sources checks where a track reads from.
func (c *checker) sources(t *Track) {
	if t.Of != "" && t.OfPin() == "" {
		c.url("track.of", t.Of)
		if t.Branch == "" {
			c.problem("track.of", "a repository needs the branch that is read, in track.branch")
		}
	} else if t.Of != "" && t.Branch != "" {
		c.problem("track.branch", "the pin %s is read at its locked commit; a branch is only for a repository's address", t.Of)
	}
	c.oneLine("track.key", t.Key, false)
	c.oneLine("track.reason", t.Reason, t.Kind == Manual)
	if t.Path != "" {
		c.relative("track.path", t.Path)
	}
	for i, u := range t.AllowedURLs {
		c.url(fmt.Sprintf("track.allowed-urls[%d]", i), u)
	}
	if t.Kind == HuggingFace && strings.Count(t.Repo, "/") != 1 {
		c.problem("track.repo", "%q is not owner/name", clip(t.Repo))
	}
	at := "track."
	if t.Kind == Field {
		at = "track.files."
	}
	if ix := t.Index(); ix != nil {
		c.url(at+"url", ix.URL)
		c.oneLine(at+"select", ix.Select, false)
		c.one(at+"format", ix.Format, FormatJSON, FormatPEP503, FormatS3, FormatTOML)
		for i, s := range ix.Platforms {
			c.word(fmt.Sprintf("%splatforms[%d]", at, i), s)
		}
	}
}

func (c *checker) schemes(t *Track) {
	for i, s := range t.Schemes {
		at := fmt.Sprintf("track.schemes[%d]", i)
		one, err := compileScheme(s)
		if err != nil {
			c.problem(at, "%s", err)
			continue
		}
		for j := range i {
			if t.Schemes[j].Pattern == one.pattern {
				c.problem(at, "the pattern %q is here twice", clip(one.pattern))
			}
		}
	}
	for i, g := range t.Ignore {
		c.glob(fmt.Sprintf("track.ignore[%d]", i), g)
	}
}

func (c *checker) glob(at, g string) {
	if _, err := path.Match(g, ""); err != nil || g == "" {
		c.problem(at, "%q is not a glob", clip(g))
	}
}

// word checks a value that becomes part of a command line or an address: no
// blanks, no control characters, and nothing that looks like an option.
func (c *checker) word(at, s string) {
	if s == "" || s[0] == '-' || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		c.problem(at, "%q must be one word that does not begin with a hyphen", clip(s))
	}
}
