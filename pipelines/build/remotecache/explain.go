// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/unpack"
)

// A failure is what an error means for the user and for the rest of the run.
type failure struct {
	text     string
	strike   bool // the registry is at fault, and may be at the next time
	decisive bool // it will be at the next time
}

// explain tells an error in words that hold nothing of a credential, of an
// address that a registry made up, or of what it wrote in its answer.
func explain(err error) failure {
	var (
		answer      *transport.Error
		certificate *tls.CertificateVerificationError
		credentials *noCredentials
		plain       *plainHTTP
		wrong       *wrong
		large       *tooLarge
		refused     *unpack.Refused
		broken      *unpack.Broken
		late        *slow
		local       *fs.PathError
		short       *cutShort
	)
	switch {
	case errors.As(err, &wrong):
		return failure{text: wrong.Error()}
	case errors.As(err, &refused):
		return failure{text: refused.Error()}
	case errors.As(err, &broken):
		return failure{text: "its archive cannot be read"}
	case errors.As(err, &large):
		return failure{text: large.Error(), strike: true}
	case errors.As(err, &credentials):
		return failure{text: credentials.Error(), strike: true, decisive: true}
	case errors.As(err, &certificate):
		return failure{text: "its certificate is not to be trusted (" + inert.Line(certificate.Err.Error(), 200) + ")", strike: true, decisive: true}
	case errors.As(err, &answer):
		return ofAnswer(answer)
	case errors.As(err, &plain):
		return failure{text: plain.Error(), strike: true, decisive: true}
	case errors.As(err, &late):
		return failure{text: late.Error(), strike: true}
	case errors.As(err, &short):
		return failure{text: short.Error(), strike: true}
	case errors.Is(err, context.DeadlineExceeded):
		return failure{text: "it was not done in time", strike: true}
	case errors.As(err, &local), errors.Is(err, syscall.ENOSPC):
		return failure{text: "this machine: " + inert.Line(err.Error(), 200)}
	}
	return failure{text: "it cannot be asked (" + inert.Line(cause(err).Error(), 200) + ")", strike: true}
}

// about says whether an answer is one to a request for manifests or blobs; a
// server that is no registry has its own for others.
func about(answer *transport.Error, what string) bool {
	return answer.Request != nil && strings.Contains(answer.Request.URL.Path, "/"+what+"/")
}

func ofAnswer(answer *transport.Error) failure {
	code := answer.StatusCode
	if code == http.StatusNotFound && about(answer, "blobs") {
		return failure{text: "it lacks a part of the entry (404)"}
	}
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return failure{text: "it wants other credentials (" + http.StatusText(code) + "): log in with your container tool", strike: true, decisive: true}
	case http.StatusTooManyRequests:
		return failure{text: "it wants to be asked less (429)", strike: true}
	case http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage:
		return failure{text: "it has no room (" + http.StatusText(code) + ")", strike: true}
	}
	return failure{text: strings.TrimSpace(fmt.Sprintf("it answers %d %s", code, http.StatusText(code))), strike: true}
}

// cause strips the addresses of requests, which may hold signatures of their
// own, from an error.
func cause(err error) error {
	for {
		var u *url.Error
		if !errors.As(err, &u) {
			return err
		}
		err = u.Err
	}
}

// noCredentials is a container tool's set-up that cannot be read. What its
// programs print is not repeated: it could be a secret.
type noCredentials struct{ why string }

func (e *noCredentials) Error() string {
	return "your container tool's credentials cannot be had (" + e.why + "): see its config.json"
}

// keychain is another one with a time limit: it may start a program.
type keychain struct {
	authn.Keychain
	limits *limits
}

// Resolve implements authn.Keychain.
func (k keychain) Resolve(r authn.Resource) (authn.Authenticator, error) {
	return k.ResolveContext(context.Background(), r)
}

// ResolveContext implements authn.ContextKeychain.
func (k keychain) ResolveContext(ctx context.Context, r authn.Resource) (authn.Authenticator, error) {
	ctx, cancel := context.WithTimeout(ctx, k.limits.answer)
	defer cancel()
	type found struct {
		auth authn.Authenticator
		err  error
	}
	c := make(chan found, 1)
	go func() {
		a, err := authn.Resolve(ctx, k.Keychain, r)
		c <- found{a, err}
	}()
	select {
	case f := <-c:
		if f.err != nil {
			return nil, &noCredentials{"they are not readable"}
		}
		return f.auth, nil
	case <-ctx.Done():
		return nil, &noCredentials{"its helper did not answer"}
	}
}
