// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package evidence writes, signs, finds and verifies statements that one output
// passed, or did not pass, one test on one machine. It is for the machines that
// run hardware tests, which sign, and for everybody who decides by them, the
// gate hardware first of all.
//
// A statement is an in-toto statement of the type test-result v0.1
// (https://in-toto.io/attestation/test-result/v0.1) in a DSSE envelope
// (https://github.com/secure-systems-lab/dsse), with one ed25519 signature. Its
// subject is a component with the digest of its output, its configuration the
// test with the digest of its definition: evidence for another output, or for a
// test that changed since, is none.
//
// It lies in this repository, so that it is reviewed and kept like everything
// else:
//
//	ci/evidence/<component>/<12 hex digits of the output>.<test>.<runner>.json
//
// The name only finds; what is inside decides. A runner that tests the same
// output again replaces its file, and history keeps the old one. Keys are in
// ci/trust/runners.yaml.
//
// Limits: the time in a statement is what its signer wrote, so a stolen key can
// write any. Nothing that a revoked key ever signed counts, therefore. And who
// may remove files from the repository can remove a bad result; that shows in
// its history.
package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/strictjson"
)

// The types that a statement names.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://in-toto.io/attestation/test-result/v0.1"
	PayloadType   = "application/vnd.in-toto+json"
)

// Result is how a test ended. The third word of the in-toto type, WARNED, is
// not ours: a test passes or does not.
type Result string

// The results.
const (
	Passed Result = "PASSED"
	Failed Result = "FAILED"
)

// A Statement says how one test of one output ended on one machine.
type Statement struct {
	Component  string    `json:"component"`       // a recipe's name
	Output     string    `json:"output"`          // t1: of the component's files
	Test       string    `json:"test"`            // the definition's name
	Definition string    `json:"definition"`      // sha256: of the definition's file
	Round      string    `json:"round,omitempty"` // the round's id; empty: what is on main was tested
	Machine    string    `json:"machine"`         // which one, in the runner's words
	Command    []string  `json:"command"`         // what ran, without secrets
	At         time.Time `json:"at"`              // when it ended, UTC, whole seconds
	Result     Result    `json:"result"`
	PassedOnes []string  `json:"passed,omitempty"` // names of single tests
	FailedOnes []string  `json:"failed,omitempty"`
	URL        string    `json:"url,omitempty"` // of the run, https
}

// The form on the wire. Fields stand in the order of the in-toto documents.
type wireStatement struct {
	Type          string         `json:"_type"`
	Subject       []wireResource `json:"subject"`
	PredicateType string         `json:"predicateType"`
	Predicate     wirePredicate  `json:"predicate"`
}

type wireResource struct {
	Name        string            `json:"name"`
	Digest      map[string]string `json:"digest"`
	Annotations *wireNotes        `json:"annotations,omitempty"`
}

type wirePredicate struct {
	Result        Result         `json:"result"`
	Configuration []wireResource `json:"configuration"`
	URL           string         `json:"url,omitempty"`
	PassedTests   []string       `json:"passedTests,omitempty"`
	FailedTests   []string       `json:"failedTests,omitempty"`
}

// wireNotes are in the annotations of the configuration, which in-toto leaves to
// the producer, so that the predicate itself has no fields but the type's own.
type wireNotes struct {
	Round   string   `json:"round,omitempty"`
	Machine string   `json:"machine"`
	Command []string `json:"command"`
	At      string   `json:"at"`
}

const timeLayout = "2006-01-02T15:04:05Z"

// payload returns the statement's only form: verification compares with it, so
// that keys that are there twice or in another case, and whatever else a lenient
// reader would pass over, mean the same to every reader: nothing.
func (s *Statement) payload() ([]byte, error) {
	output, err := outputDigits(s.Output)
	if err != nil {
		return nil, err
	}
	definition, ok := strings.CutPrefix(s.Definition, "sha256:")
	if !ok {
		return nil, &Malformed{fmt.Sprintf("the definition's digest is %q, not sha256: and 64 hex digits", inert.Line(s.Definition, 80))}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err = e.Encode(wireStatement{
		Type:          StatementType,
		Subject:       []wireResource{{Name: s.Component, Digest: map[string]string{"t1": output}}},
		PredicateType: PredicateType,
		Predicate: wirePredicate{
			Result: s.Result,
			Configuration: []wireResource{{
				Name: s.Test, Digest: map[string]string{"sha256": definition},
				Annotations: &wireNotes{Round: s.Round, Machine: s.Machine, Command: s.Command, At: s.At.UTC().Format(timeLayout)},
			}},
			URL: s.URL, PassedTests: s.PassedOnes, FailedTests: s.FailedOnes,
		},
	})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// parse reads a payload whose signature was verified.
func parse(payload []byte) (*Statement, error) {
	var head struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
	}
	if err := json.Unmarshal(payload, &head); err != nil {
		return nil, &Malformed{"the payload is not a JSON object: " + inert.Line(err.Error(), 200)}
	}
	if head.Type != StatementType {
		return nil, &WrongType{What: "the statement's type", Got: head.Type, Want: StatementType}
	}
	if head.PredicateType != PredicateType {
		return nil, &WrongType{What: "the predicate's type", Got: head.PredicateType, Want: PredicateType}
	}
	var w wireStatement
	if err := strict(payload, &w); err != nil {
		return nil, err
	}
	if len(w.Subject) != 1 || len(w.Predicate.Configuration) != 1 || w.Predicate.Configuration[0].Annotations == nil || w.Subject[0].Annotations != nil {
		return nil, &Malformed{"it has not one subject and one test with its annotations"}
	}
	subject, test := w.Subject[0], w.Predicate.Configuration[0]
	at, err := time.Parse(timeLayout, test.Annotations.At)
	if err != nil {
		return nil, &Malformed{"its time is not one such as " + timeLayout}
	}
	sum, err := hex.DecodeString(subject.Digest["t1"])
	if err != nil {
		return nil, &Malformed{"its subject's digest is not t1 with 64 hex digits"}
	}
	s := &Statement{
		Component: subject.Name, Output: "t1:" + base64.StdEncoding.EncodeToString(sum),
		Test: test.Name, Definition: "sha256:" + test.Digest["sha256"],
		Round: test.Annotations.Round, Machine: test.Annotations.Machine, Command: test.Annotations.Command, At: at,
		Result: w.Predicate.Result, PassedOnes: w.Predicate.PassedTests, FailedOnes: w.Predicate.FailedTests, URL: w.Predicate.URL,
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if again, err := s.payload(); err != nil || !bytes.Equal(again, payload) {
		return nil, &Malformed{"it is not in the one form that a statement has: sign it anew"}
	}
	return s, nil
}

var (
	plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	roundID   = regexp.MustCompile(`^[0-9a-f]{16}$`)
	sha256Sum = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Bounds of what a statement says.
const (
	maxWords = 1000 // arguments, single tests
	maxWord  = 1000 // bytes
)

// check says what is wrong with a statement, to its writer as to its reader.
func (s *Statement) check() error {
	bad := func(format string, args ...any) error { return &Malformed{fmt.Sprintf(format, args...)} }
	for _, n := range []struct{ what, name string }{{"component", s.Component}, {"test", s.Test}, {"machine", s.Machine}} {
		if !plainName.MatchString(n.name) {
			return bad("its %s is called %q: a name has a-z, 0-9 and - only", n.what, inert.Line(n.name, 80))
		}
	}
	if _, err := outputDigits(s.Output); err != nil {
		return err
	}
	switch {
	case !sha256Sum.MatchString(s.Definition):
		return bad("the definition's digest is %q, not sha256: and 64 hex digits", inert.Line(s.Definition, 80))
	case s.Round != "" && !roundID.MatchString(s.Round):
		return bad("the round's id is %q, not 16 hex digits", inert.Line(s.Round, 80))
	case len(s.Command) == 0:
		return bad("it does not say which command ran")
	case s.At.IsZero() || !s.At.Equal(s.At.Truncate(time.Second)) || s.At.Year() > 9999:
		return bad("its time is not a whole second")
	case s.Result != Passed && s.Result != Failed:
		return bad("its result is %q, not %s or %s", inert.Line(string(s.Result), 40), Passed, Failed)
	case s.Result == Passed && len(s.FailedOnes) > 0:
		return bad("it says %s and names tests that failed", Passed)
	case s.URL != "" && !strings.HasPrefix(s.URL, "https://"):
		return bad("the address of its run is not an https one")
	}
	for _, list := range [][]string{s.Command, s.PassedOnes, s.FailedOnes, {s.URL}} {
		if len(list) > maxWords {
			return bad("it lists more than %d words", maxWords)
		}
		if slices.ContainsFunc(list, func(w string) bool { return len(w) > maxWord }) {
			return bad("it has a word of more than %d bytes", maxWord)
		}
	}
	return nil
}

// outputDigits returns the 64 hex digits of a t1: sum.
func outputDigits(sum string) (string, error) {
	rest, ok := strings.CutPrefix(sum, "t1:")
	raw, err := base64.StdEncoding.Strict().DecodeString(rest)
	if !ok || err != nil || len(raw) != sha256.Size {
		return "", &Malformed{fmt.Sprintf("the output's digest is %q, not t1: and a sum in base64", inert.Line(sum, 80))}
	}
	return hex.EncodeToString(raw), nil
}

// strict reads JSON with known fields and nothing behind it.
func strict(data []byte, into any) error {
	if err := strictjson.Decode(data, into); err != nil {
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return &UnknownField{strings.Trim(inert.Line(field, 80), `"`)}
		}
		return &Malformed{inert.Line(err.Error(), 200)}
	}
	return nil
}
