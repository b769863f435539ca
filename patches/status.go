// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"net/url"
	"strings"
)

// statusKey begins the line of a message that says how a patch stands with the
// upstream.
const statusKey = "Upstream-Status:"

// An UpstreamStatus says how a patch stands with the upstream: why it is ours.
type UpstreamStatus struct {
	State  string `json:"state"`            // inappropriate, pending, submitted or backport
	Reason string `json:"reason,omitempty"` // of inappropriate, if there is one
	URL    string `json:"url,omitempty"`    // of submitted and backport
}

// ParseStatus reads what stands after Upstream-Status: one of
//
//	inappropriate [reason]
//	pending
//	submitted <https address>
//	backport <https address>
func ParseStatus(value string) (UpstreamStatus, error) {
	state, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	rest = strings.TrimSpace(rest)
	s := UpstreamStatus{State: strings.ToLower(state)}
	switch s.State {
	case "inappropriate":
		s.Reason = strings.TrimSuffix(strings.TrimPrefix(rest, "["), "]")
		return s, nil
	case "pending":
		if rest == "" {
			return s, nil
		}
		return s, fmt.Errorf("%s pending stands alone, without %q", statusKey, shorten(rest))
	case "submitted", "backport":
		rest = strings.TrimSuffix(strings.TrimPrefix(rest, "<"), ">")
		u, err := url.Parse(rest)
		if err != nil || u.Scheme != "https" || u.Host == "" || strings.ContainsAny(rest, " \t") {
			return s, fmt.Errorf("%s %s needs the https address of the change", statusKey, s.State)
		}
		s.URL = rest
		return s, nil
	}
	return s, fmt.Errorf("%s %q is none of: inappropriate [reason], pending, submitted <address>, backport <address>", statusKey, shorten(state))
}

func (s UpstreamStatus) String() string {
	switch {
	case s.URL != "":
		return s.State + " " + s.URL
	case s.Reason != "":
		return s.State + " [" + s.Reason + "]"
	}
	return s.State
}

// Status returns what the message says. The error says that it says nothing,
// or something else, or says it twice.
func (p *Patch) Status() (UpstreamStatus, error) {
	var found []string
	for l := range strings.Lines(p.Body()) {
		if len(l) >= len(statusKey) && strings.EqualFold(l[:len(statusKey)], statusKey) {
			found = append(found, l[len(statusKey):])
		}
	}
	switch len(found) {
	case 0:
		return UpstreamStatus{}, fmt.Errorf("the message has no line %q: add one of inappropriate [reason], pending, submitted <address>, backport <address>", statusKey)
	case 1:
		return ParseStatus(found[0])
	}
	return UpstreamStatus{}, fmt.Errorf("the message has %d lines %q: keep one", len(found), statusKey)
}

// AddStatus puts a status at the end of a message that has none.
func (p *Patch) AddStatus(s UpstreamStatus) {
	for l := range strings.Lines(p.Body()) {
		if len(l) >= len(statusKey) && strings.EqualFold(l[:len(statusKey)], statusKey) {
			return
		}
	}
	lines := strings.Split(strings.TrimSuffix(p.Message, "\n"), "\n")
	last := lines[len(lines)-1]
	// A paragraph of trailers takes it; after anything else it is its own.
	if key, _, ok := strings.Cut(last, ": "); len(lines) < 3 || !ok || strings.ContainsAny(key, " \t") {
		lines = append(lines, "")
	}
	p.Message = strings.Join(append(lines, statusKey+" "+s.String()), "\n") + "\n"
}

// shorten keeps a quoted text readable.
func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
