// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"fmt"
	"regexp"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// URLs in these errors are without user names and passwords.

// Unreachable says that a host did not answer, answered with a server error,
// or broke off.
type Unreachable struct{ URL, Why string }

func (e *Unreachable) Error() string {
	return fmt.Sprintf("%s cannot be reached now (%s): check the network and try again", e.URL, e.Why)
}

// Verdict is Infra.
func (e *Unreachable) Verdict() verdict.Verdict { return verdict.Infra }

// NotFound says that there is no such repository, or none that may be seen
// without a credential: hosts answer both alike.
type NotFound struct{ URL string }

func (e *NotFound) Error() string {
	return fmt.Sprintf("%s does not exist or may not be seen without a credential: check the address", e.URL)
}

// AuthRequired says that the host asked for a credential, or refused the one
// that was given. GitHub also answers so for a repository that does not exist.
type AuthRequired struct {
	URL     string
	Refused bool // one was given
}

func (e *AuthRequired) Error() string {
	if e.Refused {
		return fmt.Sprintf("%s refused the credential: check that it is right and may do this", e.URL)
	}
	return fmt.Sprintf("%s does not exist or needs a credential: check the address, or give one", e.URL)
}

// ProxyAuth says that the proxy on the way wants a password.
type ProxyAuth struct{ URL string }

func (e *ProxyAuth) Error() string {
	return fmt.Sprintf("the proxy on the way to %s wants a password (407): put user and password into HTTPS_PROXY", e.URL)
}

// Verdict is Infra.
func (e *ProxyAuth) Verdict() verdict.Verdict { return verdict.Infra }

// Redirected says that a repository has another address now. To is empty when
// the host did not say which.
type Redirected struct{ From, To string }

func (e *Redirected) Error() string {
	if e.To == "" {
		return fmt.Sprintf("%s has moved and the host does not say where: find the new address", e.From)
	}
	return fmt.Sprintf("%s has moved to %s: check the new address and change it", e.From, plain(e.To))
}

// BadURL says that an address was refused before anything was asked.
type BadURL struct{ URL, Why string }

func (e *BadURL) Error() string { return fmt.Sprintf("the address %s is refused: %s", e.URL, e.Why) }

// Gone says that a remote has a commit no longer.
type Gone struct {
	URL    string
	Commit ID
}

func (e *Gone) Error() string {
	return fmt.Sprintf("%s no longer has the commit %s: take it from an archive or choose another", e.URL, e.Commit)
}

// RefGone says that a remote has no ref of that name.
type RefGone struct{ URL, Ref string }

func (e *RefGone) Error() string {
	return fmt.Sprintf("%s has no ref %s: check its name", e.URL, plain(e.Ref))
}

// Malformed says that a remote sent objects that git's own checks refuse, such
// as a tree with an entry .git.
type Malformed struct{ URL, Why string }

func (e *Malformed) Error() string {
	return fmt.Sprintf("%s sent objects that are refused (%s): do not use this version", e.URL, plain(e.Why))
}

// Incomplete says that a remote lacks some of its own objects, as mirrors with
// a limit on size do. Fetch with a filter and FetchObjects gets what there is.
type Incomplete struct{ URL string }

func (e *Incomplete) Error() string {
	return fmt.Sprintf("%s lacks some of its own objects: fetch without blobs first, then the blobs that it has", e.URL)
}

// DiskFull says that there was no room for what a fetch brought.
type DiskFull struct{ URL string }

func (e *DiskFull) Error() string {
	return fmt.Sprintf("fetch from %s: the disk is full: make room and try again", e.URL)
}

// Unwrap returns what the system says.
func (e *DiskFull) Unwrap() error { return syscall.ENOSPC }

// Verdict is Infra.
func (e *DiskFull) Verdict() verdict.Verdict { return verdict.Infra }

// Damaged says that a repository on this machine lost or broke files of its own.
type Damaged struct {
	Dir string // its git directory
	Err error  // what git said
}

func (e *Damaged) Error() string {
	why := e.Err.Error()
	var exit *run.ExitError
	if errors.As(e.Err, &exit) {
		why = complaints([]byte(exit.Stderr))
	}
	return fmt.Sprintf("the repository %s is damaged (%s): look at it with 'git fsck'", e.Dir, plain(why))
}

func (e *Damaged) Unwrap() error { return e.Err }

// Verdict says that the machine is at fault.
func (e *Damaged) Verdict() verdict.Verdict { return verdict.Infra }

// damage is what git says of a repository that it cannot read any more.
var damage = regexp.MustCompile(`(?i)not a git repository|bad config|does not match index|is corrupt|inflate:|missing (?:object|blob|tree|commit)|` +
	`bad (?:tree object|signature|index|shallow line)|invalid sha1 pointer|object file .* is empty|loose object|unable to (?:read|unpack|parse|find) |` +
	`could not read [0-9a-f]{40}|packfile .* (?:cannot|claims|is far|signature)|file too short|too small|non-monotonic|hash mismatch|broken ref|corrupted`)

// local returns err as *Damaged where git complained of its own repository. It
// is for commands that do not use the network.
func (r *Repo) local(err error) error { return asDamage(r.dir, err) }

func asDamage(dir string, err error) error {
	var exit *run.ExitError
	var known *Damaged
	if errors.As(err, &known) || !errors.As(err, &exit) || exit.Code != 128 || !damage.MatchString(exit.Stderr) {
		return err
	}
	return &Damaged{dir, err}
}

// ObjectFormat says that something is not SHA-1.
type ObjectFormat struct{ Where, Format string }

func (e *ObjectFormat) Error() string {
	return fmt.Sprintf("%s uses the object format %s: only sha1 is supported", e.Where, plain(e.Format))
}

// MissingObject says that an object is not in the object store.
type MissingObject struct{ ID ID }

func (e *MissingObject) Error() string { return fmt.Sprintf("the object %s is not there", e.ID) }

// WrongKind says that an id names an object of another kind.
type WrongKind struct {
	ID         ID
	Kind, Want string
}

func (e *WrongKind) Error() string { return fmt.Sprintf("%s is a %s, not a %s", e.ID, e.Kind, e.Want) }

// Unknown says that a revision names nothing in a repository.
type Unknown struct{ Revision string }

func (e *Unknown) Error() string {
	return fmt.Sprintf("the revision %s is not in the repository", inertQuote(e.Revision))
}

// RefMoved says that a ref is not where the caller last saw it: another
// process was faster. Empty ids mean that there is no such ref; Have is also
// empty when the other side did not say.
type RefMoved struct {
	Where      string // empty: the local repository
	Ref        string
	Want, Have ID
}

func (e *RefMoved) Error() string {
	where := ""
	if e.Where != "" {
		where = " of " + e.Where
	}
	want := "not to exist"
	if e.Want != "" {
		want = "at " + string(e.Want)
	}
	have := ""
	if e.Have != "" {
		have = ", it is at " + string(e.Have)
	}
	return fmt.Sprintf("the ref %s%s was expected %s%s: somebody else moved it, read it again", plain(e.Ref), where, want, have)
}

// PushRefused says that the other side declined a ref, with its reason.
type PushRefused struct{ URL, Ref, Why string }

func (e *PushRefused) Error() string {
	return fmt.Sprintf("%s refused the ref %s: %s", e.URL, plain(e.Ref), plain(e.Why))
}

// mostShown is how much of an untrusted text an error repeats, in characters.
const mostShown = 300

func inertQuote(s string) string { return inert.Quote(s, mostShown) }

func plain(s string) string { return inert.Line(s, mostShown) }
