// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/pins"
	"gopkg.in/yaml.v3"
)

// TrustFile is where the runners' keys are, in the repository.
const TrustFile = "ci/trust/runners.yaml"

// Trust is whose signature counts. The zero value trusts nobody.
type Trust struct{ Runners []Runner }

// A Runner is a machine's key.
type Runner struct {
	Name      string
	PublicKey ed25519.PublicKey
	// ValidFrom is the first moment at which the key may sign, ValidTo the first
	// at which it may no longer: the day after valid-to.
	ValidFrom, ValidTo time.Time
	Revoked            *Revocation
}

// A Revocation says since when a key is known to be in wrong hands. From then
// on nothing counts that it signs or ever signed.
type Revocation struct {
	Date time.Time
	Why  string
}

// Runner returns the runner of that name, nil where there is none.
func (t *Trust) Runner(name string) *Runner {
	if t == nil {
		return nil
	}
	for i := range t.Runners {
		if t.Runners[i].Name == name {
			return &t.Runners[i]
		}
	}
	return nil
}

// maxTrust is the largest trust file that is read, in bytes.
const maxTrust = 1 << 20

// LoadTrust reads ci/trust/runners.yaml below root, a work tree. A tree without
// it trusts nobody. What is wrong in the file is pins.Errors, all at once.
func LoadTrust(root string) (*Trust, error) {
	f, err := os.Open(filepath.Join(root, filepath.FromSlash(TrustFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return &Trust{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTrust+1))
	if err != nil {
		return nil, err
	}
	return ParseTrust(data)
}

// The file, with the lines of everything.
type trustFile struct {
	Runners []struct {
		Name      yaml.Node `yaml:"name"`
		PublicKey yaml.Node `yaml:"public-key"`
		ValidFrom yaml.Node `yaml:"valid-from"`
		ValidTo   yaml.Node `yaml:"valid-to"`
		Revoked   *struct {
			Date yaml.Node `yaml:"date"`
			Why  yaml.Node `yaml:"why"`
		} `yaml:"revoked"`
	} `yaml:"runners"`
}

// ParseTrust reads the content of ci/trust/runners.yaml.
func ParseTrust(data []byte) (*Trust, error) {
	var p problems
	if len(data) > maxTrust {
		p.say(1, "the file is larger than %d MiB", maxTrust>>20)
		return nil, p.err()
	}
	var file trustFile
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	err := d.Decode(&file)
	switch {
	case errors.Is(err, io.EOF):
		p.say(1, "the file is empty: write 'runners: []' where there are none")
	case err != nil:
		p.list = append(p.list, pins.YAMLErrors(TrustFile, err)...)
	default:
		if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
			p.say(1, "there is more than one document in the file")
		}
		if err := yaml.Unmarshal(data, &root); err == nil {
			p.plain(&root)
		}
	}
	t := &Trust{}
	lines := p.entries(&root)
	if len(p.list) > 0 {
		return nil, p.err()
	}
	keys := map[string]string{}
	for i := range file.Runners {
		in, at := &file.Runners[i], lines[i]
		r := Runner{
			Name:      p.text(&in.Name, at, "name"),
			ValidFrom: p.day(&in.ValidFrom, at, "valid-from"),
			ValidTo:   p.day(&in.ValidTo, at, "valid-to").AddDate(0, 0, 1),
		}
		if r.Name != "" && !plainName.MatchString(r.Name) {
			p.say(in.Name.Line, "name: %q: a name has a-z, 0-9 and - only", inert.Line(r.Name, 80))
		}
		if r.Name != "" && t.Runner(r.Name) != nil {
			p.say(in.Name.Line, "name: there is a runner %s already; a new key is a new runner, such as %s-2", inert.Line(r.Name, 80), inert.Line(r.Name, 80))
		}
		if text := p.text(&in.PublicKey, at, "public-key"); text != "" {
			key, ok := parsePublic(text)
			switch {
			case !ok:
				p.say(in.PublicKey.Line, "public-key: not %s and 32 bytes in base64", keyPrefix)
			case keys[text] != "":
				p.say(in.PublicKey.Line, "public-key: it is the key of runner %s too", keys[text])
			}
			r.PublicKey, keys[text] = key, inert.Line(r.Name, 80)
		}
		if in.ValidFrom.Line > 0 && in.ValidTo.Line > 0 && r.ValidTo.Before(r.ValidFrom) {
			p.say(in.ValidTo.Line, "valid-to: it is before valid-from")
		}
		if in.Revoked != nil {
			r.Revoked = &Revocation{Date: p.day(&in.Revoked.Date, at, "revoked.date"), Why: p.text(&in.Revoked.Why, at, "revoked.why")}
		}
		t.Runners = append(t.Runners, r)
	}
	if len(p.list) > 0 {
		return nil, p.err()
	}
	return t, nil
}

// entries returns the line of each entry. An empty one, which the YAML library
// leaves out, is a problem.
func (p *problems) entries(root *yaml.Node) []int {
	var lines []int
	for i := 0; len(root.Content) > 0 && i+1 < len(root.Content[0].Content); i += 2 {
		if list := root.Content[0].Content[i+1]; root.Content[0].Content[i].Value == "runners" {
			for _, n := range list.Content {
				lines = append(lines, n.Line)
				if n.Tag == "!!null" {
					p.say(n.Line, "an entry of runners is empty")
				}
			}
		}
	}
	return lines
}

type problems struct{ list pins.Errors }

func (p *problems) say(line int, format string, args ...any) {
	p.list = append(p.list, pins.Problem{File: TrustFile, Line: max(line, 1), Text: fmt.Sprintf(format, args...)})
}

func (p *problems) err() error { return p.list }

// plain refuses what makes a file of trust read otherwise than it looks.
func (p *problems) plain(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		p.say(n.Line, "aliases (*) are not allowed; write the value out")
		return
	case n.Anchor != "":
		p.say(n.Line, "anchors (&) are not allowed; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		p.say(n.Line, "tags (!) are not allowed")
	}
	for _, c := range n.Content {
		p.plain(c)
	}
}

// text returns a value that must be there and be one; at is the entry's line.
func (p *problems) text(n *yaml.Node, at int, key string) string {
	switch {
	case n.Line == 0:
		p.say(at, "%s is missing", key)
	case n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null":
		p.say(n.Line, "%s: want a text", key)
	default:
		return n.Value
	}
	return ""
}

// day returns the first moment of a day, UTC.
func (p *problems) day(n *yaml.Node, at int, key string) time.Time {
	s := p.text(n, at, key)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 2000 {
		p.say(n.Line, "%s: %q is not a day such as 2026-12-31", key, inert.Line(s, 80))
		return time.Time{}
	}
	return t
}
