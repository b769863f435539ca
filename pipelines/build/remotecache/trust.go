// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"gopkg.in/yaml.v3"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Trust says whose signatures are taken. An entry that none of its keys
// signed is not.
type Trust struct {
	keys map[string]*trusted // by keyID
}

type trusted struct {
	name     string
	key      ed25519.PublicKey
	from, to time.Time
	revoked  *revocation
}

type revocation struct {
	On  string `yaml:"on"`
	Why string `yaml:"why"`
}

// trustFile is the file as it is written.
type trustFile struct {
	Keys []struct {
		Name    string      `yaml:"name"`
		Key     string      `yaml:"key"`  // base64 of the DER form
		From    string      `yaml:"from"` // the first day
		To      string      `yaml:"to"`   // the day after the last
		Revoked *revocation `yaml:"revoked"`
	} `yaml:"keys"`
}

// LoadTrust reads a trust file. All that is wrong with it is told at once.
func LoadTrust(path string) (*Trust, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, verdict.Usagef("the trust file of the remote cache: %v", err)
	}
	t, err := parseTrust(data, path)
	if err != nil {
		return nil, verdict.Usagef("%v", err)
	}
	return t, nil
}

func parseTrust(data []byte, path string) (*Trust, error) {
	var f trustFile
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlProblem(path, err)
	}
	// What stands in a second document, a revocation perhaps, must not be lost.
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s has more than one document: write all keys into one", path)
	}
	var at struct{ Keys []yaml.Node }
	if err := yaml.Unmarshal(data, &at); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(f.Keys) == 0 {
		return nil, fmt.Errorf("%s names no key: nothing could ever be taken", path)
	}
	t := &Trust{keys: map[string]*trusted{}}
	var problems []error
	for i, k := range f.Keys {
		wrong := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("%s:%d: key %q: %w", path, at.Keys[i].Line, k.Name, fmt.Errorf(format, args...)))
		}
		if k.Name == "" {
			wrong("it has no name")
		}
		if saysRevoked(&at.Keys[i]) {
			switch r := k.Revoked; {
			case r == nil || r.On == "" || r.Why == "":
				wrong("a revocation says on which day and why")
			default:
				if _, err := time.Parse(time.DateOnly, r.On); err != nil {
					wrong("revoked: on: %q is no day as 2026-11-30", r.On)
				}
			}
		}
		trusted := &trusted{name: k.Name, revoked: k.Revoked}
		var err error
		if trusted.from, err = time.Parse(time.DateOnly, k.From); err != nil {
			wrong("from: %q is no day as 2026-11-30", k.From)
		}
		if trusted.to, err = time.Parse(time.DateOnly, k.To); err != nil {
			wrong("to: %q is no day as 2026-11-30", k.To)
		}
		if !trusted.from.Before(trusted.to) {
			wrong("it ends before it begins")
		}
		der, _ := base64.StdEncoding.DecodeString(k.Key)
		public, _ := x509.ParsePKIXPublicKey(der)
		key, ok := public.(ed25519.PublicKey)
		if !ok {
			wrong("it is no ed25519 key: write what 'openssl pkey -pubout' prints between its first and last line")
			continue
		}
		trusted.key = key
		id, err := keyID(key)
		if err != nil {
			return nil, err
		}
		if t.keys[id] != nil {
			wrong("it is the key of %q too", t.keys[id].name)
		}
		t.keys[id] = trusted
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return t, nil
}

// saysRevoked reports whether a key has the field, also with nothing in it.
func saysRevoked(key *yaml.Node) bool {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	for i := 0; i+1 < len(key.Content); i += 2 {
		// What is merged into a key may hold the field too.
		if name := key.Content[i]; name.Value == "revoked" || name.Tag == "!!merge" && saysRevoked(key.Content[i+1]) {
			return true
		}
	}
	return false
}

// goTypes is how the YAML library names where a value should have gone.
var goTypes = regexp.MustCompile(`(?m) (?:in type|into) .*$`)

// yamlProblem tells an error of the YAML library without our types.
func yamlProblem(path string, err error) error {
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var lines []error
	for _, text := range types.Errors {
		lines = append(lines, fmt.Errorf("%s: %s: see 'Who is trusted' in docs/build.md", path, goTypes.ReplaceAllString(text, "")))
	}
	return errors.Join(lines...)
}

// refusal says why a key is not taken at a time, or "".
func (k *trusted) refusal(now time.Time) string {
	switch {
	case k.revoked != nil:
		return fmt.Sprintf("the key %s was revoked on %s (%s)", k.name, k.revoked.On, k.revoked.Why)
	case now.Before(k.from):
		return fmt.Sprintf("the key %s is valid from %s on", k.name, k.from.Format(time.DateOnly))
	case !now.Before(k.to):
		return fmt.Sprintf("the key %s was valid until %s", k.name, k.to.Format(time.DateOnly))
	}
	return ""
}

// check says why no signature of an envelope is taken. A key counts as it is
// now, not when it signed: one that is over could say any day.
func (t *Trust) check(e *dsse.Envelope, payload []byte, now time.Time) error {
	if len(e.Signatures) == 0 {
		return wrongf("it is not signed")
	}
	why := "no key of the trust file signed it"
	for _, s := range e.Signatures {
		k := t.keys[s.KeyID]
		if k == nil {
			continue
		}
		sig, err := base64.StdEncoding.DecodeString(s.Sig)
		if err != nil || !ed25519.Verify(k.key, dsse.PAE(RecordType, payload), sig) {
			why = fmt.Sprintf("its signature is none of the key %s", k.name)
			continue
		}
		if why = k.refusal(now); why == "" {
			return nil
		}
	}
	return wrongf("%s", why)
}

// Accepts says why entries that a signer signs would not be taken.
func (t *Trust) Accepts(s *Signer, now time.Time) error {
	k := t.keys[s.id]
	if k == nil {
		return verdict.Usagef("the trust file of the remote cache does not name the key that is to sign outputs")
	}
	if why := k.refusal(now); why != "" {
		return verdict.Usagef("nobody would take what is signed: %s", why)
	}
	return nil
}

// maxFile is the most bytes of a file with keys that count.
const maxFile = 1 << 20

// readSmall reads a file that may be a pipe, as long as it ends.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return data, err
}
