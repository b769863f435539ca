// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// SumMismatch is a file whose content is not what was locked.
type SumMismatch struct{ URL, Want, Got string }

func (e *SumMismatch) Error() string {
	return fmt.Sprintf("%s: content has the sum %s where %s is locked; the file was replaced upstream or on the way, the old one is kept", e.URL, e.Got, e.Want)
}

// SizeMismatch is a file of another size than was locked, in bytes.
type SizeMismatch struct {
	URL       string
	Want, Got int64
	More      bool // it has at least Got bytes; the rest was not read
}

func (e *SizeMismatch) Error() string {
	more := ""
	if e.More {
		more = "at least "
	}
	return fmt.Sprintf("%s: %s%d bytes where %d are locked; the old file is kept", e.URL, more, e.Got, e.Want)
}

// TooLarge is an answer beyond the stated limit, in bytes.
type TooLarge struct {
	URL   string
	Limit int64
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("%s: larger than the limit of %d bytes", e.URL, e.Limit)
}

// LFSPointer is the text of a Git LFS pointer where its file was expected.
type LFSPointer struct{ URL string }

func (e *LFSPointer) Error() string {
	return e.URL + ": a Git LFS pointer came instead of the file; ask the address that serves LFS content"
}

// HTMLAnswer is a web page where a file was expected: a login, an error, a
// captive portal.
type HTMLAnswer struct{ URL string }

func (e *HTMLAnswer) Error() string {
	return e.URL + ": a web page came instead of the file; is it behind a login, a portal or an error page?"
}

// Encoded is a compressed answer that was not asked for.
type Encoded struct{ URL, Encoding string }

func (e *Encoded) Error() string {
	return fmt.Sprintf("%s: the answer is encoded (%s) although plain bytes were asked for", e.URL, e.Encoding)
}

// NotFound is a 404 or 410.
type NotFound struct{ URL string }

func (e *NotFound) Error() string { return e.URL + ": not there (404)" }

// Unauthorized is a 401, or a 403 that is no rate limit.
type Unauthorized struct {
	URL    string
	Status int
}

func (e *Unauthorized) Error() string {
	return fmt.Sprintf("%s: the server wants other credentials (%d)", e.URL, e.Status)
}

// Status is any other answer that is no success.
type Status struct {
	URL  string
	Code int
}

func (e *Status) Error() string { return fmt.Sprintf("%s: the server answers %d", e.URL, e.Code) }

// ProxyAuth is a proxy that wants a password.
type ProxyAuth struct{ Proxy string }

func (e *ProxyAuth) Error() string {
	return fmt.Sprintf("the proxy %s wants a user name and password (407); set them in HTTPS_PROXY", e.Proxy)
}

// Verdict is infra: the machine's set-up, not the upstream.
func (e *ProxyAuth) Verdict() verdict.Verdict { return verdict.Infra }

// RateLimited is a server that wants to be asked later.
type RateLimited struct {
	URL   string
	Until time.Time // zero when the server did not say
}

func (e *RateLimited) Error() string {
	if e.Until.IsZero() {
		return e.URL + ": the server limits its requests; try again later"
	}
	return fmt.Sprintf("%s: the server limits its requests until %s", e.URL, e.Until.UTC().Format(time.RFC3339))
}

// Verdict is infra.
func (e *RateLimited) Verdict() verdict.Verdict { return verdict.Infra }

// Unreachable is a host that did not answer, or broke off, as often as it was
// tried.
type Unreachable struct {
	URL string
	Err error
}

func (e *Unreachable) Error() string { return fmt.Sprintf("%s: unreachable: %v", e.URL, e.Err) }
func (e *Unreachable) Unwrap() error { return e.Err }

// Verdict is infra.
func (e *Unreachable) Verdict() verdict.Verdict { return verdict.Infra }

// Refused is a URL or an address that is never asked.
type Refused struct{ URL, Why string }

func (e *Refused) Error() string { return fmt.Sprintf("%s: not asked: %s", e.URL, e.Why) }

// Moved is a permanent redirect where the caller wants none: a renamed
// repository, say.
type Moved struct {
	URL, To string
	Code    int
}

func (e *Moved) Error() string {
	return fmt.Sprintf("%s: moved permanently (%d) to %s; change the address if that is right", e.URL, e.Code, e.To)
}

// LocalError is this machine failing to keep a file.
type LocalError struct {
	Path string
	Err  error
}

func (e *LocalError) Error() string {
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		return fmt.Sprintf("%s: the disk is full; free some space and run it again, it goes on where it stopped", e.Path)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}
func (e *LocalError) Unwrap() error { return e.Err }

// Verdict is infra.
func (e *LocalError) Verdict() verdict.Verdict { return verdict.Infra }
