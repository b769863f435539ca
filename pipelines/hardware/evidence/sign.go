// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// MaxSize is the most bytes that an envelope may have.
const MaxSize = 1 << 20

// Sign returns the envelope, as a file has it, of a statement that the runner of
// that name signs with its key.
func Sign(s *Statement, key ed25519.PrivateKey, runner string) ([]byte, error) {
	if !plainName.MatchString(runner) {
		return nil, &UnknownKey{runner}
	}
	if len(key) != ed25519.PrivateKeySize {
		return nil, &Malformed{"the runner's key is no ed25519 key"}
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	payload, err := s.payload()
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(dsse.Envelope{
		PayloadType: PayloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{
			KeyID: runner,
			Sig:   base64.StdEncoding.EncodeToString(ed25519.Sign(key, dsse.PAE(PayloadType, payload))),
		}},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	data = append(data, '\n')
	if len(data) > MaxSize {
		return nil, &TooLarge{len(data), MaxSize}
	}
	return data, nil
}

// Verified is a statement that counts.
type Verified struct {
	Statement
	Runner string `json:"runner"` // whose key signed it
}

// skew is how far apart the clocks of a runner and ours may be.
const skew = 10 * time.Minute

// Verify returns what an envelope states. The error is one of this package's
// types. Nothing in it is read before its signature is known to be good.
func Verify(envelope []byte, trust *Trust, now time.Time) (*Verified, error) {
	if len(envelope) > MaxSize {
		return nil, &TooLarge{len(envelope), MaxSize}
	}
	var e dsse.Envelope
	if err := strict(envelope, &e); err != nil {
		return nil, err
	}
	if e.PayloadType != PayloadType {
		return nil, &WrongType{What: "the payload's type", Got: e.PayloadType, Want: PayloadType}
	}
	if len(e.Signatures) != 1 {
		return nil, &Malformed{"it has not one signature"}
	}
	payload, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil {
		return nil, &Malformed{"its payload is not base64"}
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(e.Signatures[0].Sig)
	if err != nil {
		return nil, &Malformed{"its signature is not base64"}
	}
	runner := trust.Runner(e.Signatures[0].KeyID)
	if runner == nil {
		return nil, &UnknownKey{e.Signatures[0].KeyID}
	}
	if !ed25519.Verify(runner.PublicKey, dsse.PAE(e.PayloadType, payload), signature) {
		return nil, &BadSignature{runner.Name}
	}
	if r := runner.Revoked; r != nil && !now.Before(r.Date) {
		return nil, &Revoked{runner.Name, r.Date, r.Why}
	}
	s, err := parse(payload)
	if err != nil {
		return nil, err
	}
	if s.At.Before(runner.ValidFrom) || !s.At.Before(runner.ValidTo) {
		return nil, &OutsideValidity{runner.Name, s.At, runner.ValidFrom, runner.ValidTo}
	}
	if s.At.After(now.Add(skew)) {
		return nil, &InFuture{s.At, now}
	}
	return &Verified{*s, runner.Name}, nil
}
