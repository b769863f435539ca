// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

var now = time.Date(2026, 12, 5, 12, 0, 0, 0, time.UTC)

func digits(c string) string { return strings.Repeat(c, 64) }

func output(c byte) string {
	return "t1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{c}, 32))
}

// seeded is a key that is the same in every run.
func seeded(c byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{c}, ed25519.SeedSize))
}

func statement() *Statement {
	return &Statement{
		Component: "llama-vulkan", Output: output(7), Test: "prefill", Definition: "sha256:" + digits("d"), Round: "0123456789abcdef",
		Machine: "halo-1", Command: []string{"dist", "hardware", "run", "<prefill>"}, At: now.Add(-time.Hour), Result: Passed,
		PassedOnes: []string{"pp512", "tg128"}, URL: "https://github.com/1bit-MONSTER/engine/actions/runs/1",
	}
}

func trusted() *Trust {
	day := func(s string) time.Time { t, _ := time.Parse(time.DateOnly, s); return t }
	runner := func(name string, c byte) Runner {
		return Runner{Name: name, PublicKey: seeded(c).Public().(ed25519.PublicKey), ValidFrom: day("2026-12-01"), ValidTo: day("2027-12-02")}
	}
	t := &Trust{Runners: []Runner{runner("halo-1", 1), runner("halo-2", 2), runner("sold", 3)}}
	t.Runners[2].Revoked = &Revocation{Date: day("2026-12-05"), Why: "the disk was sold"}
	return t
}

func sign(t testing.TB, s *Statement, c byte, runner string) []byte {
	t.Helper()
	e, err := Sign(s, seeded(c), runner)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSignAndVerify(t *testing.T) {
	for name, change := range map[string]func(*Statement){
		"all":               func(*Statement) {},
		"least":             func(s *Statement) { s.Round, s.URL, s.PassedOnes = "", "", nil },
		"failed":            func(s *Statement) { s.Result, s.FailedOnes = Failed, []string{"pp512"} },
		"first day":         func(s *Statement) { s.At = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) },
		"other zone":        func(s *Statement) { s.At = s.At.In(time.FixedZone("", 3600)) },
		"our clock is late": func(s *Statement) { s.At = now.Add(skew) },
	} {
		t.Run(name, func(t *testing.T) {
			s := statement()
			change(s)
			e := sign(t, s, 1, "halo-1")
			if !bytes.Equal(e, sign(t, s, 1, "halo-1")) {
				t.Error("signed twice, it differs")
			}
			v, err := Verify(e, trusted(), now)
			if err != nil {
				t.Fatal(err)
			}
			s.At = s.At.UTC()
			if d := cmp.Diff(&Verified{*s, "halo-1"}, v); d != "" {
				t.Error(d)
			}
		})
	}
}

// forge signs any payload.
func forge(payload string, c byte, runner string) []byte {
	data, _ := json.Marshal(dsse.Envelope{PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString([]byte(payload)),
		Signatures: []dsse.Signature{{KeyID: runner, Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(seeded(c), dsse.PAE(PayloadType, []byte(payload))))}}})
	return data
}

func TestVerifyRefuses(t *testing.T) {
	good := sign(t, statement(), 1, "halo-1")
	raw, err := statement().payload()
	if err != nil {
		t.Fatal(err)
	}
	payload := string(raw)
	at := func(change func(*Statement)) []byte { s := statement(); change(s); return sign(t, s, 1, "halo-1") }
	envelope := func(change func(*dsse.Envelope)) []byte {
		var e dsse.Envelope
		if err := json.Unmarshal(good, &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		data, _ := json.Marshal(e)
		return data
	}
	signed := func(old, with string) []byte {
		if !strings.Contains(payload, old) {
			t.Fatalf("no %q in %s", old, payload)
		}
		return forge(strings.Replace(payload, old, with, 1), 1, "halo-1")
	}
	for _, c := range []struct {
		what string
		data []byte
		want error // of this type
		text string
	}{
		{"nothing", nil, &Malformed{}, "malformed"},
		{"not JSON", []byte("evidence"), &Malformed{}, "malformed"},
		{"an array", []byte("[]"), &Malformed{}, "malformed"},
		{"null", []byte("null"), &WrongType{}, `the payload's type is ""`},
		{"too large", bytes.Repeat([]byte(" "), MaxSize+1), &TooLarge{}, "1048577 bytes"},
		{"deep", bytes.Repeat([]byte("["), MaxSize), &Malformed{}, "malformed"},
		{"more behind it", append(bytes.Clone(good), "{}"...), &Malformed{}, "follows after its end"},
		{"a bracket behind it", append(bytes.Clone(good), "}"...), &Malformed{}, "follows after its end"},
		{"unknown field of the envelope", bytes.Replace(good, []byte(`{`), []byte(`{"x": 1, `), 1), &UnknownField{}, `unknown field "x"`},
		{"other payload type", envelope(func(e *dsse.Envelope) { e.PayloadType = "text/plain" }), &WrongType{}, `"text/plain"`},
		{"no signature", envelope(func(e *dsse.Envelope) { e.Signatures = nil }), &Malformed{}, "one signature"},
		{"two signatures", envelope(func(e *dsse.Envelope) { e.Signatures = append(e.Signatures, e.Signatures[0]) }), &Malformed{}, "one signature"},
		{"payload not base64", envelope(func(e *dsse.Envelope) { e.Payload = "*" }), &Malformed{}, "payload is not base64"},
		{"signature not base64", envelope(func(e *dsse.Envelope) { e.Signatures[0].Sig = "*" }), &Malformed{}, "signature is not base64"},
		{"short signature", envelope(func(e *dsse.Envelope) { e.Signatures[0].Sig = "AAAA" }), &BadSignature{}, "runner halo-1"},
		{"unknown runner", envelope(func(e *dsse.Envelope) { e.Signatures[0].KeyID = "halo-9\u202e" }), &UnknownKey{}, `no runner "halo-9"`},
		{"no runner", envelope(func(e *dsse.Envelope) { e.Signatures[0].KeyID = "" }), &UnknownKey{}, `no runner ""`},
		{"other runner's name", envelope(func(e *dsse.Envelope) { e.Signatures[0].KeyID = "halo-2" }), &BadSignature{}, "runner halo-2"},
		{"other runner's key", sign(t, statement(), 2, "halo-1"), &BadSignature{}, "runner halo-1"},
		{"payload changed", envelope(func(e *dsse.Envelope) {
			e.Payload = base64.StdEncoding.EncodeToString([]byte(strings.Replace(payload, "PASSED", "FAILED", 1)))
		}), &BadSignature{}, "runner halo-1"},
		{"revoked", sign(t, statement(), 3, "sold"), &Revoked{}, "runner sold was revoked on 2026-12-05: the disk was sold"},
		{"before validity", at(func(s *Statement) { s.At = time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC) }), &OutsideValidity{}, "valid from 2026-12-01 to 2027-12-01"},
		{"in the future", at(func(s *Statement) { s.At = now.Add(skew + time.Second) }), &InFuture{}, "a clock is wrong"},
		{"payload not JSON", forge("x", 1, "halo-1"), &Malformed{}, "not a JSON object"},
		{"other statement type", signed(StatementType, "https://in-toto.io/Statement/v0.1"), &WrongType{}, "the statement's type"},
		{"other predicate", signed(PredicateType, "https://slsa.dev/provenance/v1"), &WrongType{}, "the predicate's type"},
		{"unknown field", signed(`"predicateType"`, `"expires": "never", "predicateType"`), &UnknownField{}, `"expires"`},
		{"unknown field deep inside", signed(`"machine"`, `"x": 1, "machine"`), &UnknownField{}, `"x"`},
		{"a key twice", signed(`"result":"PASSED"`, `"result":"FAILED","result":"PASSED"`), &Malformed{}, "one form"},
		{"a key in another case", signed(`"result"`, `"RESULT"`), &Malformed{}, "one form"},
		{"white space", signed(`"result":`, `"result": `), &Malformed{}, "one form"},
		{"a second digest", signed(`"t1":`, `"sha256":"`+digits("0")+`","t1":`), &Malformed{}, "one form"},
		{"another digest", signed(`"t1":`, `"sha256":`), &Malformed{}, "digest"},
		{"a key twice, in another case", signed(`"subject":[{`, `"subject":[],"Subject":[{`), &Malformed{}, "one form"},
		{"two subjects", signed(`"subject":[`, `"subject":[{"name":"x","digest":{}},`), &Malformed{}, "one subject"},
		{"warned", signed(`PASSED`, `WARNED`), &Malformed{}, `result is "WARNED"`},
		{"passed with a failure", signed(`"passedTests"`, `"failedTests"`), &Malformed{}, "tests that failed"},
		{"a name that climbs", signed(`"name":"prefill"`, `"name":"../prefill"`), &Malformed{}, "its test is called"},
		{"no time", signed(statement().At.Format(timeLayout), "yesterday"), &Malformed{}, "its time"},
	} {
		t.Run(c.what, func(t *testing.T) {
			v, err := Verify(c.data, trusted(), now)
			if err == nil || v != nil {
				t.Fatalf("verified: %+v", v)
			}
			if reflect.TypeOf(err) != reflect.TypeOf(c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%T: %v\nwant %T: %s", err, err, c.want, c.text)
			}
		})
	}
	if _, err := Verify(good, nil, now); !errors.As(err, new(*UnknownKey)) {
		t.Errorf("nobody is trusted: %v", err)
	}
	early := statement()
	early.At = now.AddDate(0, 0, -3)
	if _, err := Verify(sign(t, early, 3, "sold"), trusted(), now.AddDate(0, 0, -2)); err != nil {
		t.Errorf("before the key was revoked: %v", err)
	}
	if _, err := Verify(sign(t, early, 3, "sold"), trusted(), now); !errors.As(err, new(*Revoked)) {
		t.Errorf("signed before the key was revoked, read later: %v", err)
	}
	if _, err := Verify(good, trusted(), now.AddDate(2, 0, 0)); err != nil {
		t.Errorf("signed while the key was valid, read later: %v", err)
	}
}

func TestEveryByteCounts(t *testing.T) {
	good := sign(t, statement(), 1, "halo-1")
	trust := trusted()
	want, err := Verify(good, trust, now)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range good {
		for _, flip := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			v, err := Verify(bad, trust, now)
			if err != nil {
				refused++
				continue
			}
			if d := cmp.Diff(want, v); d != "" { // a key in another case, white space
				t.Fatalf("byte %d: another statement is accepted: %s", i, d)
			}
		}
	}
	if refused < 2*len(good) {
		t.Errorf("only %d of %d changes were refused", refused, 3*len(good))
	}
}

func TestSignRefuses(t *testing.T) {
	for what, change := range map[string]func(*Statement){
		"component": func(s *Statement) { s.Component = "../x" }, "output": func(s *Statement) { s.Output = "sha256:" + digits("0") },
		"output's length": func(s *Statement) { s.Output = "t1:AAAA" }, "test": func(s *Statement) { s.Test = "" },
		"definition": func(s *Statement) { s.Definition = digits("d") }, "round": func(s *Statement) { s.Round = "7" },
		"machine": func(s *Statement) { s.Machine = "Halo 1" }, "command": func(s *Statement) { s.Command = nil },
		"time": func(s *Statement) { s.At = time.Time{} }, "moment": func(s *Statement) { s.At = s.At.Add(1) },
		"result": func(s *Statement) { s.Result = "" }, "failed ones": func(s *Statement) { s.FailedOnes = []string{"x"} },
		"address": func(s *Statement) { s.URL = "javascript:0" }, "word": func(s *Statement) { s.Command = []string{strings.Repeat("x", maxWord+1)} },
		"words": func(s *Statement) { s.PassedOnes = make([]string, maxWords+1) },
	} {
		t.Run(what, func(t *testing.T) {
			s := statement()
			change(s)
			if e, err := Sign(s, seeded(1), "halo-1"); !errors.As(err, new(*Malformed)) {
				t.Errorf("signed %s, %v", e, err)
			}
		})
	}
	if _, err := Sign(statement(), nil, "halo-1"); !errors.As(err, new(*Malformed)) {
		t.Errorf("no key: %v", err)
	}
	if _, err := Sign(statement(), seeded(1), "Halo 1"); !errors.As(err, new(*UnknownKey)) {
		t.Errorf("no name: %v", err)
	}
	s := statement()
	s.PassedOnes = strings.Fields(strings.Repeat(strings.Repeat("x", maxWord)+" ", maxWords))
	if _, err := Sign(s, seeded(1), "halo-1"); !errors.As(err, new(*TooLarge)) {
		t.Errorf("too large: %v", err)
	}
}

// reference is a key for the reference implementation of DSSE.
type reference struct{ key ed25519.PrivateKey }

func (r reference) KeyID() (string, error)   { return "halo-1", nil }
func (r reference) Public() crypto.PublicKey { return r.key.Public() }
func (r reference) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(r.key, data), nil
}
func (r reference) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(r.key.Public().(ed25519.PublicKey), data, sig) {
		return errors.New("bad signature")
	}
	return nil
}

func TestOthersReadAndWriteTheSame(t *testing.T) {
	ctx := t.Context()
	var e dsse.Envelope
	if err := json.Unmarshal(sign(t, statement(), 1, "halo-1"), &e); err != nil {
		t.Fatal(err)
	}
	verifier, err := dsse.NewEnvelopeVerifier(reference{seeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	_, payload, err := verifier.VerifyAndDecode(ctx, &e)
	if err != nil {
		t.Fatalf("the reference implementation does not verify ours: %v", err)
	}
	signer, err := dsse.NewEnvelopeSigner(reference{seeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := signer.SignPayload(ctx, PayloadType, payload)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(data, trusted(), now); err != nil {
		t.Errorf("we do not verify the reference implementation's: %v", err)
	}
	// The fields are those of the specification, with nothing beside them.
	want := `{"_type":"https://in-toto.io/Statement/v1",` +
		`"subject":[{"name":"llama-vulkan","digest":{"t1":"` + strings.Repeat("07", 32) + `"}}],` +
		`"predicateType":"https://in-toto.io/attestation/test-result/v0.1",` +
		`"predicate":{"result":"PASSED","configuration":[{"name":"prefill","digest":{"sha256":"` + digits("d") + `"},` +
		`"annotations":{"round":"0123456789abcdef","machine":"halo-1","command":["dist","hardware","run","<prefill>"],"at":"2026-12-05T11:00:00Z"}}],` +
		`"url":"https://github.com/1bit-MONSTER/engine/actions/runs/1","passedTests":["pp512","tg128"]}}`
	if string(payload) != want {
		t.Errorf("payload\n%s\nwant\n%s", payload, want)
	}
}

func TestPublicText(t *testing.T) {
	public := seeded(1).Public().(ed25519.PublicKey)
	if got, ok := parsePublic(PublicText(public)); !ok || !got.Equal(public) {
		t.Errorf("%s is read as %x", PublicText(public), got)
	}
	for _, text := range []string{"", "ed25519:", "ed25519:AAAA", strings.TrimPrefix(PublicText(public), keyPrefix), PublicText(public) + "="} {
		if _, ok := parsePublic(text); ok {
			t.Errorf("%q is a key", text)
		}
	}
}

func FuzzVerify(f *testing.F) {
	good := sign(f, statement(), 1, "halo-1")
	f.Add(good)
	f.Add([]byte("{}"))
	f.Add(forge(`{"_type":"`+StatementType+`","predicateType":"`+PredicateType+`","predicate":{"configuration":[{}]}}`, 1, "halo-1"))
	trust := trusted()
	want, err := Verify(good, trust, now)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// Nobody but the key's owner makes anything that counts: neither as an
		// envelope nor, signed, as a payload that is not what we write.
		if v, err := Verify(data, trust, now); err == nil {
			if d := cmp.Diff(want, v); d != "" {
				t.Error(d)
			}
		}
		v, err := Verify(forge(string(data), 1, "halo-1"), trust, now)
		if err != nil {
			return
		}
		if again, err := v.payload(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s\nis accepted and written as\n%s", data, again)
		}
	})
}
