// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/pins"
	"github.com/google/go-cmp/cmp"
)

func public(c byte) string { return PublicText(seeded(c).Public().(ed25519.PublicKey)) }

func TestParseTrust(t *testing.T) {
	got, err := ParseTrust([]byte(`# the machines
runners:
  - name: halo-1
    public-key: ` + public(1) + `
    valid-from: 2026-12-01
    valid-to: 2027-12-01
  - name: sold
    public-key: ` + public(3) + `
    valid-from: 2026-12-01
    valid-to: 2027-12-01
    revoked: {date: 2026-12-05, why: the disk was sold}
`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Runner{trusted().Runners[0], trusted().Runners[2]}, got.Runners); d != "" {
		t.Error(d)
	}
}

func TestParseTrustProblems(t *testing.T) {
	entry := "runners:\n  - name: a\n    public-key: " + public(1) + "\n    valid-from: 2026-12-01\n    valid-to: 2027-12-01\n"
	with := func(old, with string) string {
		if !strings.Contains(entry, old) {
			t.Fatal(old)
		}
		return strings.Replace(entry, old, with, 1)
	}
	for _, c := range []struct {
		what, data string
		want       []string // line: text
	}{
		{"empty", "# nothing\n", []string{"1: the file is empty: write 'runners: []' where there are none"}},
		{"no YAML", "runners: [\n", []string{"1: did not find expected node content"}},
		{"a list", "- a\n", []string{"1: another kind of value belongs here"}},
		{"unknown key", entry + "    trusted: yes\n", []string{`6: unknown key "trusted"`}},
		{"unknown key of the file", "runner: []\n", []string{`1: unknown key "runner"`}},
		{"key twice", entry + "    name: b\n", []string{`6: mapping key "name" already defined at line 2`}},
		{"two documents", entry + "---\nrunners: []\n", []string{"1: there is more than one document in the file"}},
		{"alias", "runners: &a\n  - *a\n", []string{"1: another kind of value belongs here"}},
		{"anchor", with("name: a", "name: &n a"), []string{"2: anchors (&) are not allowed; write the value out"}},
		{"tag", with("name: a", "name: !!str a"), []string{"2: tags (!) are not allowed"}},
		{"everything missing", "runners:\n  - {}\n", []string{"2: name is missing", "2: valid-from is missing", "2: valid-to is missing", "2: public-key is missing"}},
		{"nothing in it", "runners:\n  -\n", []string{"2: an entry of runners is empty"}},
		{"nothing and something", strings.Replace(entry, "  - name", "  -\n  - name", 1), []string{"2: an entry of runners is empty"}},
		{"no name", with("name: a", "name:"), []string{"2: name: want a text"}},
		{"a list as a name", with("name: a", "name: [a]"), []string{"2: name: want a text"}},
		{"bad name", with("name: a", "name: A b"), []string{`2: name: "A b": a name has a-z, 0-9 and - only`}},
		{"two of one name", entry + strings.TrimPrefix(strings.Replace(entry, public(1), public(2), 1), "runners:\n"), []string{"6: name: there is a runner a already; a new key is a new runner, such as a-2"}},
		{"two with one key", entry + strings.TrimPrefix(strings.Replace(entry, "name: a", "name: b", 1), "runners:\n"), []string{"7: public-key: it is the key of runner a too"}},
		{"bad key", with("ed25519:", ""), []string{"3: public-key: not ed25519: and 32 bytes in base64"}},
		{"short key", with(public(1), "ed25519:AAAA"), []string{"3: public-key: not ed25519: and 32 bytes in base64"}},
		{"bad days", with("2026-12-01\n    valid-to: 2027-12-01", "soon\n    valid-to: 2027-02-30"), []string{`4: valid-from: "soon" is not a day such as 2026-12-31`, `5: valid-to: "2027-02-30" is not a day such as 2026-12-31`}},
		{"never valid", with("2027-12-01", "2026-11-29"), []string{"5: valid-to: it is before valid-from"}},
		{"revoked for no reason", entry + "    revoked: {date: 2026-12-05}\n", []string{"2: revoked.why is missing"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			trust, err := ParseTrust([]byte(c.data))
			var wrong pins.Errors
			if !errors.As(err, &wrong) || trust != nil {
				t.Fatalf("%+v, %v", trust, err)
			}
			var want []string
			for _, w := range c.want {
				want = append(want, TrustFile+":"+w)
			}
			if d := cmp.Diff(strings.Join(want, "\n"), wrong.Error()); d != "" {
				t.Error(d)
			}
		})
	}
	if _, err := ParseTrust(make([]byte, maxTrust+1)); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("too large: %v", err)
	}
}

func TestLoadTrust(t *testing.T) {
	root := t.TempDir()
	if trust, err := LoadTrust(root); err != nil || len(trust.Runners) > 0 {
		t.Errorf("no file: %+v, %v", trust, err)
	}
	if err := os.MkdirAll(filepath.Join(root, TrustFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadTrust(root); err == nil {
		t.Error("a folder is trusted")
	}
}

// The file that this repository ships is read by every build of the gate, and
// names nobody yet.
func TestShippedTrust(t *testing.T) {
	trust, err := LoadTrust("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("../../..", TrustFile)); err != nil {
		t.Fatal(err)
	}
	for _, r := range trust.Runners {
		if r.ValidTo.Before(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("runner %s was never valid", r.Name)
		}
	}
}
