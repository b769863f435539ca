// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/run"
)

var (
	notOurRef    = regexp.MustCompile(`(?:not our ref|unadvertised object) ([0-9a-f]{40})`)
	httpStatus   = regexp.MustCompile(`(?:requested URL returned error:|HTTP code|response|HTTP) (\d{3})`)
	noRemoteRef  = regexp.MustCompile(`couldn't find remote ref (\S+)`)
	brokenOff    = regexp.MustCompile(`early EOF|unexpected disconnect|hung up|RPC failed|curl \d+|transfer closed|inflate returned|index-pack failed|invalid index-pack output|protocol error: bad|expected (?:flush|packfile)|server sent unexpected end|bad line length|unable to read .*sideband`)
	malformed    = regexp.MustCompile(`(?:fsck error in packed object|object [0-9a-f]{40}: \w+: [^;]*|SHA1 COLLISION[^;]*|hash mismatch [0-9a-f]{40}|did not send all necessary objects)`)
	incomplete   = regexp.MustCompile(`possible repository corruption on the remote side|unable to read [0-9a-f]{40}|(?:missing|bad) (?:tree|blob) object`)
	noConnection = regexp.MustCompile(`[Cc]ould not resolve|Failed to connect|[Cc]ouldn't connect|Connection (?:refused|reset|timed out)|Operation (?:timed out|too slow)|SSL|TLS|certificate|Empty reply|unable to connect|Could not read from remote`)
)

// refusedObject is the id that the remote said it does not have, or will not
// send because no ref points at it.
type refusedObject struct{ id ID }

func (e *refusedObject) Error() string { return "the remote does not give out " + string(e.id) }

// explain turns the failure of a git command that used the network into one
// of this package's errors.
func (t *target) explain(ctx context.Context, r run.Result, err error) error {
	if err == nil {
		return nil
	}
	err = noGit(err)
	var exit *run.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if exit.TimedOut {
		return errors.Join(&Unreachable{t.shown, "time limit reached"}, context.DeadlineExceeded)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", t.shown, ctx.Err())
	}
	said := complaints(r.Stderr)
	if m := notOurRef.FindStringSubmatch(said); m != nil {
		return &refusedObject{ID(m[1])}
	}
	if m := noRemoteRef.FindStringSubmatch(said); m != nil {
		return &RefGone{t.shown, m[1]}
	}
	if m := httpStatus.FindStringSubmatch(said); m != nil {
		switch status := m[1]; {
		case status == "407":
			return &ProxyAuth{t.shown}
		case status[0] == '3':
			return &Redirected{t.shown, t.location(ctx)}
		case status == "401" || status == "403":
			return &AuthRequired{t.shown, t.given}
		case status == "404" || status == "410":
			return &NotFound{t.shown}
		default:
			return &Unreachable{t.shown, "HTTP status " + status}
		}
	}
	if m := malformed.FindString(said); m != "" {
		return &Malformed{t.shown, m}
	}
	if incomplete.Match(r.Stderr) {
		return &Incomplete{t.shown}
	}
	has := func(text string) bool { return strings.Contains(said, text) }
	switch {
	case has("could not read Username"), has("could not read Password"), has("Authentication failed"), has("Permission denied (publickey"):
		return &AuthRequired{t.shown, t.given}
	case has("mismatched algorithms"), has("unknown object format"), has("unsupported hash"), has("different hash algorithm"):
		return &ObjectFormat{t.shown, "sha256"}
	case has("not found") && has("repository"), has("does not appear to be a git repository"), has("No such file or directory") && t.transport == "file":
		return &NotFound{t.shown}
	case has("No space left on device"):
		return &DiskFull{t.shown}
	case noConnection.MatchString(said):
		return &Unreachable{t.shown, reason(said)}
	case brokenOff.MatchString(said):
		return &Unreachable{t.shown, "the answer broke off"}
	}
	return fmt.Errorf("git on %s ended with status %d: %s", t.shown, exit.Code, plain(said))
}

// location asks once where a repository has moved to. It sends no credential
// and follows nothing; an empty answer means that the host does not say.
func (t *target) location(ctx context.Context) string {
	const suffix = "/info/refs"
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", strings.TrimSuffix(t.arg, "/")+suffix+"?service=git-upload-pack", nil)
	if err != nil {
		return ""
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return ""
	}
	resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return ""
	}
	moved := url.URL{Scheme: to.Scheme, Host: to.Host, Path: strings.TrimSuffix(to.Path, suffix)}
	return moved.String()
}

// complaints drops progress from what git said, and what is not a complaint
// where there is one.
func complaints(stderr []byte) string {
	var bad, all []string
	for _, l := range strings.FieldsFunc(string(stderr), func(r rune) bool { return r == '\n' || r == '\r' }) {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		all = append(all, l)
		for _, p := range []string{"fatal:", "error:", "remote: fatal", "remote: error", "remote error:", "ssh:", "!"} {
			if strings.HasPrefix(l, p) {
				bad = append(bad, l)
				break
			}
		}
	}
	if len(bad) == 0 {
		bad = all[max(0, len(all)-5):]
	}
	return strings.Join(bad, "; ")
}

// reason keeps the part of a complaint after the address, which we name
// ourselves.
func reason(said string) string {
	first, _, _ := strings.Cut(said, "; ")
	if _, after, ok := strings.Cut(first, "': "); ok {
		return plain(after)
	}
	return plain(strings.TrimPrefix(first, "fatal: "))
}
