// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// PolicyFile is where the policy lies in the repository.
const PolicyFile = "ci/nightly.yaml"

// A Policy is what the nightly job may do.
type Policy struct {
	Tries      int           `yaml:"tries"`       // of one round
	MinAge     time.Duration `yaml:"min-age"`     // for pins that do not say
	AlarmAfter time.Duration `yaml:"alarm-after"` // the upstream moved and the pin has not
	Lease      time.Duration `yaml:"lease"`       // of a group that somebody works on
	Stopped    *Stop         `yaml:"stopped"`
	Groups     map[string]struct {
		Stopped *Stop `yaml:"stopped"`
	} `yaml:"groups"`
}

// A Stop says why nothing is begun.
type Stop struct {
	Reason string `yaml:"reason"`
}

// DefaultPolicy is what holds where the file says nothing.
func DefaultPolicy() *Policy {
	return &Policy{Tries: 3, MinAge: 24 * time.Hour, AlarmAfter: 72 * time.Hour, Lease: 6 * time.Hour}
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

// ParsePolicy reads a policy. Everything that is wrong is one usage error.
func ParsePolicy(data []byte, groups []string) (*Policy, error) {
	p := DefaultPolicy()
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, verdict.Usagef("%s: %s", PolicyFile, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var wrong []string
	if p.Tries < 1 || p.Tries > 100 {
		wrong = append(wrong, "tries is 1 to 100")
	}
	for _, x := range []struct {
		key string
		d   time.Duration
	}{{"min-age", p.MinAge}, {"alarm-after", p.AlarmAfter}, {"lease", p.Lease}} {
		if x.d < 0 || x.d > 365*24*time.Hour {
			wrong = append(wrong, x.key+" is a duration of up to a year, such as 24h")
		}
	}
	if p.Stopped != nil && p.Stopped.Reason == "" {
		wrong = append(wrong, "stopped needs a reason: whoever meets it must know why")
	}
	for name, g := range p.Groups {
		if !slices.Contains(groups, name) {
			wrong = append(wrong, "groups: there is no group "+name)
		}
		if g.Stopped != nil && g.Stopped.Reason == "" {
			wrong = append(wrong, "groups: "+name+": stopped needs a reason")
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return nil, verdict.Usagef("%s: %s", PolicyFile, strings.Join(wrong, "; "))
	}
	return p, nil
}

// StoppedFor says why a group is not begun; nil: it may be.
func (p *Policy) StoppedFor(group string) *Stop {
	if p.Stopped != nil {
		return p.Stopped
	}
	return p.Groups[group].Stopped
}
