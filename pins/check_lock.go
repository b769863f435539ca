// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"regexp"
)

// lock checks the form of a lock, and that a sum never stands without what it
// is the sum of.
func (c *checker) lock(p *Pin) {
	l := p.Lock
	rule, known := kinds[p.Track.Kind]
	if l.ID() == "" && len(l.Files) == 0 {
		c.problem("lock", "a lock needs a commit, a version, a digest or files")
	}
	if l.Version != "" {
		c.oneLine("lock.version", l.Version, true)
	}
	c.optional("lock.commit", l.Commit, hex40RE, "a full commit of 40 hex digits")
	c.optional("lock.tag", l.Tag, hex40RE, "the full id of a tag object")
	c.optional("lock.tree", l.Tree, hex40RE, "the full id of a tree")
	c.optional("lock.digest", l.Digest, digestRE, "sha256: and 64 hex digits")
	if known && rule.commit && l.Commit == "" {
		c.problem("lock", "the lock of a %s pin needs a commit", p.Track.Kind)
	}
	if p.Track.Kind == GoModule {
		c.optional("lock.sum", l.Sum, goSumRE, "an h1: sum")
	} else {
		c.optional("lock.sum", l.Sum, treeRE, "a t1: sum")
		if l.Sum != "" && (l.Commit == "" || l.Tree == "" || l.Date.IsZero()) {
			c.problem("lock.sum", "a summed tree needs its commit, tree and date too")
		}
	}
	if r, ok := p.Rejected(l.ID()); ok {
		c.problem("lock", "%s is locked and in reject", clip(r.ID))
	}
	if v := l.Via; v != nil {
		if p.Track.Kind != Gitlink {
			c.problem("lock.via", "only a gitlink is read through another repository")
		}
		c.match("lock.via.commit", v.Commit, hex40RE, "a full commit of 40 hex digits")
		c.relative("lock.via.path", v.Path)
		c.oneLine("lock.via.url", v.URL, true)
	} else if p.Track.Kind == Gitlink && l.Sum != "" {
		c.problem("lock", "a verified gitlink needs via: where it was read")
	}
	if l.ViaMirror != nil {
		c.oneLine("lock.via-mirror.stands-in", l.ViaMirror.StandsIn, true)
	}
	if a := l.Accepted; a != nil {
		c.id("lock.accepted.from", a.From, p.Track.Kind)
		c.id("lock.accepted.to", a.To, p.Track.Kind)
		c.oneLine("lock.accepted.why", a.Why, true)
		c.oneLine("lock.accepted.by", a.By, true)
		c.day("lock.accepted.date", a.Date, true)
	}
	c.lockTrees(l)
	c.lockFiles(l)
	c.inputs(l)
}

func (c *checker) optional(path, value string, re *regexp.Regexp, want string) {
	if value != "" {
		c.match(path, value, re, want)
	}
}

func (c *checker) lockTrees(l *Lock) {
	for i, s := range l.Submodules {
		at := fmt.Sprintf("lock.submodules[%d]", i)
		c.relative(at+".path", s.Path)
		c.url(at+".url", s.URL)
		c.match(at+".commit", s.Commit, hex40RE, "a full commit of 40 hex digits")
		c.optional(at+".sum", s.Sum, treeRE, "a t1: sum")
	}
	if p := l.Patched; p != nil {
		c.match("lock.patched.tree", p.Tree, hex40RE, "the full id of a tree")
		c.match("lock.patched.sum", p.Sum, treeRE, "a t1: sum")
		for i, s := range p.Steps {
			at := fmt.Sprintf("lock.patched.steps[%d]", i)
			c.relative(at+".file", s.File)
			c.match(at+".tree", s.Tree, hex40RE, "the full id of a tree")
		}
	}
	for i, e := range l.Excluded {
		at := fmt.Sprintf("lock.excluded[%d]", i)
		c.relative(at+".path", e.Path)
		c.match(at+".mode", e.Mode, modeRE, "a mode such as 100644")
		c.match(at+".id", e.ID, hex40RE, "a full id of 40 hex digits")
		c.size(at+".size", e.Size)
	}
	for i, f := range l.Licenses {
		at := fmt.Sprintf("lock.licenses[%d]", i)
		c.relative(at+".path", f.Path)
		c.match(at+".sha256", f.SHA256, sha256RE, "64 hex digits")
	}
}

func (c *checker) lockFiles(l *Lock) {
	seen := map[string]bool{}
	for i, f := range l.Files {
		at := fmt.Sprintf("lock.files[%d]", i)
		c.oneLine(at+".name", f.Name, true)
		if f.URL != "" {
			c.url(at+".url", f.URL)
		}
		c.oneLine(at+".version", f.Version, false)
		c.oneLine(at+".platform", f.Platform, false)
		if f.Path != "" {
			c.relative(at+".path", f.Path)
		}
		c.match(at+".sha256", f.SHA256, sha256RE, "64 hex digits")
		c.size(at+".size", f.Size)
		key := f.Name + "\x00" + f.Platform
		if seen[key] {
			c.problem(at+".name", "the file %q is here twice", clip(f.Name))
		}
		seen[key] = true
	}
}

func (c *checker) size(path string, n int64) {
	if n < 0 {
		c.problem(path, "a size can not be negative")
	}
}

func (c *checker) inputs(l *Lock) {
	seen := map[string]bool{}
	for i, in := range l.Inputs {
		at := fmt.Sprintf("lock.inputs[%d]", i)
		c.oneLine(at+".name", in.Name, true)
		if seen[in.Name] {
			c.problem(at+".name", "the input %q is here twice", clip(in.Name))
		}
		seen[in.Name] = true
		c.one(at+".kind", in.Kind, InputGit, InputFile, InputGoModules, InputCargoVendor, InputNPM, InputUnused)
		c.relative(at+".declared-in", in.DeclaredIn)
		if in.URL != "" || in.Kind == InputGit || in.Kind == InputFile {
			c.url(at+".url", in.URL)
		}
		c.optional(at+".commit", in.Commit, hex40RE, "a full commit of 40 hex digits")
		if in.Rev != "" {
			c.oneLine(at+".rev", in.Rev, true)
		}
		c.optional(at+".sha256", in.SHA256, sha256RE, "64 hex digits")
		c.optional(at+".sum", in.Sum, treeRE, "a t1: sum")
		c.size(at+".size", in.Size)
		c.oneLine(at+".give", in.Give, false)
		switch in.Kind {
		case InputGit:
			c.match(at+".commit", in.Commit, hex40RE, "a full commit of 40 hex digits")
		case InputFile:
			c.match(at+".sha256", in.SHA256, sha256RE, "64 hex digits")
		case InputUnused:
			c.match(at+".sha256", in.SHA256, sha256RE, "the sha256 of the file that declares it")
			c.oneLine(at+".why", in.Why, true)
		}
	}
}
