// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/page"
)

// PolicyFile is where the policy lies in the repository.
const PolicyFile = "ci/nightly.yaml"

// A Policy is what the nightly job may do.
type Policy struct {
	Tries      int           // of one round
	MinAge     time.Duration // for pins that do not say
	AlarmAfter time.Duration // the upstream moved and the pin has not
	Lease      time.Duration // of a group that somebody works on
	Stopped    *Stop
	Groups     map[string]GroupPolicy
}

// A GroupPolicy is what holds for one group only.
type GroupPolicy struct {
	Stopped *Stop
}

// A Stop says why nothing is begun.
type Stop struct {
	Reason string
}

// DefaultPolicy is what holds where the file says nothing.
func DefaultPolicy() *Policy {
	return &Policy{Tries: 3, MinAge: 24 * time.Hour, AlarmAfter: page.AlarmAfter, Lease: ledger.DefaultLease}
}

// LoadPolicy reads the policy of a repository; a missing file is the default.
// groups are the names that its entries may have.
func LoadPolicy(repo string, groups []string) (*Policy, error) {
	data, err := os.ReadFile(filepath.Join(repo, filepath.FromSlash(PolicyFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return DefaultPolicy(), nil
	}
	if err != nil {
		return nil, err
	}
	return ParsePolicy(data, groups)
}

// ParsePolicy reads a policy. Everything that is wrong is one usage error, with
// its line.
func ParsePolicy(data []byte, groups []string) (*Policy, error) {
	p := DefaultPolicy()
	r := &policyReader{groups: groups}
	r.read(data, p)
	if len(r.wrong) > 0 {
		return nil, verdict.Usagef("%s: %s", PolicyFile, strings.Join(r.wrong, "; "))
	}
	return p, nil
}

// A policyReader collects what is wrong. A key without a value is wrong too:
// who writes only "stopped:" means something else than nothing.
type policyReader struct {
	groups []string
	wrong  []string
}

func (r *policyReader) say(n *yaml.Node, format string, args ...any) {
	r.wrong = append(r.wrong, inert.Line(fmt.Sprintf("line %d: "+format, append([]any{n.Line}, args...)...), 300))
}

func (r *policyReader) read(data []byte, p *Policy) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return // nothing but comments
	case err != nil:
		r.wrong = append(r.wrong, inert.Line(strings.TrimPrefix(err.Error(), "yaml: "), 300))
		return
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		r.wrong = append(r.wrong, "it has a second document: everything is said in one")
		return
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return
	}
	r.mapping(root, "the file", map[string]func(*yaml.Node){
		"tries": func(n *yaml.Node) {
			tries, err := strconv.Atoi(n.Value)
			if n.Kind != yaml.ScalarNode || err != nil || tries < 1 || tries > 100 {
				r.say(n, "tries is a number from 1 to 100")
			}
			p.Tries = tries
		},
		"min-age":     func(n *yaml.Node) { r.duration(n, "min-age", 0, &p.MinAge) },
		"alarm-after": func(n *yaml.Node) { r.duration(n, "alarm-after", 0, &p.AlarmAfter) },
		"lease":       func(n *yaml.Node) { r.duration(n, "lease", time.Minute, &p.Lease) },
		"stopped":     func(n *yaml.Node) { p.Stopped = r.stop(n) },
		"groups":      func(n *yaml.Node) { p.Groups = r.policies(n) },
	})
}

// mapping gives each value of a mapping to who knows its key.
func (r *policyReader) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.say(n, "%s has keys: %s", what, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		take := keys[key.Value]
		switch {
		case take == nil:
			r.say(key, "%s has no key %s, only %s", what, inert.Quote(key.Value, 60), strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		case seen[key.Value]:
			r.say(key, "%s is there twice", key.Value)
		default:
			take(value)
		}
		seen[key.Value] = true
	}
}

func (r *policyReader) duration(n *yaml.Node, key string, least time.Duration, to *time.Duration) {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d < least || d > 365*24*time.Hour {
		r.say(n, "%s is a duration of up to a year in hours or minutes, such as 24h", key)
	}
	*to = d
}

// stop reads why something is stopped. It is never nil: whoever tried to stop
// something must not find it going on.
func (r *policyReader) stop(n *yaml.Node) *Stop {
	s := &Stop{}
	if n.Kind != yaml.MappingNode {
		r.say(n, "stopped needs a reason, as in stopped: {reason: the archive is being moved}; to go on, take the key away")
		return s
	}
	r.mapping(n, "stopped", map[string]func(*yaml.Node){"reason": func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			s.Reason = strings.TrimSpace(n.Value)
		}
	}})
	if s.Reason == "" {
		r.say(n, "stopped needs a reason: whoever meets it must know why")
	}
	return s
}

func (r *policyReader) policies(n *yaml.Node) map[string]GroupPolicy {
	all := map[string]GroupPolicy{}
	keys := map[string]func(*yaml.Node){}
	for _, name := range r.groups {
		keys[name] = func(n *yaml.Node) {
			r.mapping(n, name, map[string]func(*yaml.Node){"stopped": func(n *yaml.Node) { all[name] = GroupPolicy{Stopped: r.stop(n)} }})
		}
	}
	r.mapping(n, "groups", keys)
	return all
}

// StoppedFor says why a group is not begun; nil: it may be.
func (p *Policy) StoppedFor(group string) *Stop {
	if p.Stopped != nil {
		return p.Stopped
	}
	return p.Groups[group].Stopped
}
