// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A debRelease is a suite's signed list of indexes.
type debRelease struct {
	suite  string // as asked for: bookworm-updates
	signed []byte // InRelease as it came
	number string // the point release, where the suite has one
	date   time.Time
	byHash bool
	files  map[string]debIndex
}

type debIndex struct {
	sha256 string
	size   int64
}

// version is what a lock calls the state of the suite.
func (r *debRelease) version(pocket pins.Pocket) string {
	if pocket == pins.PocketRelease && strings.Contains(r.number, ".") {
		return r.number
	}
	return r.date.UTC().Format("20060102T150405Z")
}

// debRelease asks for a suite's InRelease and checks signature, name and age.
func (e *Engine) debRelease(ctx context.Context, a *debArchive, suite string) (*debRelease, error) {
	if err := checkDebWord("suite", suite); err != nil {
		return nil, err
	}
	path := "dists/" + suite + "/InRelease"
	resp, _, err := e.getFrom(ctx, a.place(suite, path), path, func(r *httpget.Request) { r.MaxSize = 8 << 20 })
	var missing *httpget.NotFound
	if errors.As(err, &missing) {
		return nil, verdict.Failf("the archive has no suite %s (%w)", suite, err)
	}
	if err != nil {
		return nil, err
	}
	text, err := e.verifySigned(ctx, a.keyring, resp.Body)
	if err != nil {
		return nil, fmt.Errorf("the suite %s: %w", suite, err)
	}
	r, err := parseRelease(suite, text)
	if err != nil {
		return nil, err
	}
	r.signed = resp.Body
	return r, r.fresh(text, e.now())
}

// parseRelease reads the text that the signature is for.
func parseRelease(suite string, text []byte) (*debRelease, error) {
	all := stanzas(bytes.NewReader(text))
	if len(all) != 1 {
		return nil, verdict.Failf("the InRelease of %s can not be read", suite)
	}
	s := all[0]
	// A mirror could give another suite, which is signed just as well.
	if s["Codename"] != suite && s["Suite"] != suite {
		return nil, verdict.Failf("the archive gave the suite %s where %s was asked for", shown(s["Codename"]), suite)
	}
	date, err := debTime(s["Date"])
	if err != nil {
		return nil, verdict.Failf("the InRelease of %s has no date (%w)", suite, err)
	}
	r := &debRelease{suite: suite, number: s["Version"], date: date, byHash: s["Acquire-By-Hash"] == "yes", files: map[string]debIndex{}}
	for line := range strings.Lines(s["Sha256"]) {
		words := strings.Fields(line)
		if len(words) != 3 || !isSHA256(words[0]) {
			continue
		}
		if size, err := strconv.ParseInt(words[1], 10, 64); err == nil && size >= 0 {
			r.files[words[2]] = debIndex{words[0], size}
		}
	}
	if len(r.files) == 0 {
		return nil, verdict.Failf("the InRelease of %s has no sha256 sums", suite)
	}
	return r, nil
}

// fresh holds a suite to its own last day: an old one, signed as well, hides
// what was mended since.
func (r *debRelease) fresh(text []byte, now time.Time) error {
	until := stanzas(bytes.NewReader(text))[0]["Valid-Until"]
	if until == "" {
		return nil
	}
	t, err := debTime(until)
	if err != nil {
		return verdict.Failf("the InRelease of %s has no readable Valid-Until (%w)", r.suite, err)
	}
	if now.After(t) {
		return verdict.Infraf("the InRelease of %s was valid until %s: the archive or mirror is out of date, or this machine's clock is wrong", r.suite, t.UTC().Format(time.RFC3339))
	}
	return nil
}

func debTime(s string) (time.Time, error) {
	t, err := time.Parse("Mon, _2 Jan 2006 15:04:05 MST", s)
	if err != nil {
		t, err = time.Parse("Mon, _2 Jan 2006 15:04:05 -0700", s)
	}
	return t.UTC(), err
}

// verifySigned returns the text of a signed message of which at least one
// signature is good by a key of the keyring, and none is bad. Suites are signed
// with several keys, so that a new one is known before an old one ends.
func (e *Engine) verifySigned(ctx context.Context, keyring string, message []byte) ([]byte, error) {
	top, err := e.cache("tmp")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(top, "gpgv-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "InRelease"), filepath.Join(dir, "Release")
	if err := os.WriteFile(in, message, 0o600); err != nil {
		return nil, err
	}
	res, err := run.Command{
		Path:    "gpgv",
		Args:    []string{"--homedir", dir, "--keyring", keyring, "--status-fd", "1", "--output", out, in},
		Env:     []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GNUPGHOME=" + dir},
		Timeout: time.Minute,
	}.Run(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, verdict.Infraf("the program gpgv is missing, so the archive's signature can not be checked: install the Debian package gpgv")
	}
	var exit *run.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.TimedOut || exit.Signal != "") {
		return nil, verdict.Infraf("gpgv could not check its signature: %w", err)
	}
	good, bad, unknown := false, false, ""
	for line := range strings.Lines(string(res.Stdout)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "[GNUPG:]" {
			continue
		}
		switch words[1] {
		case "GOODSIG":
			good = true
		case "BADSIG", "REVKEYSIG":
			bad = true
		case "NO_PUBKEY", "EXPKEYSIG", "EXPSIG":
			if len(words) > 2 {
				unknown = words[2]
			}
		}
	}
	switch {
	case bad:
		return nil, verdict.Failf("its signature is bad: it was changed on the way, nothing of it is used")
	case good:
		return os.ReadFile(out)
	case unknown != "":
		return nil, verdict.Failf("it is signed with the key %s, which %s does not have or no longer holds for good: bring that package up to date", shown(unknown), keyring)
	}
	return nil, verdict.Failf("it has no signature, nothing of it is used")
}
