// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"encoding/base64"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// A Remote is a repository somewhere else. URL is https unless Allow names
// another transport; that is for mirror mappings, never for addresses that an
// upstream wrote.
type Remote struct {
	URL        string   // https://…; with Allow also http://, file://, ssh://, git@host:path or an absolute folder
	Allow      []string // further transports: "http", "file", "ssh"
	Credential Credential
}

// A Credential is sent to the remote's own host only. It reaches git through
// the environment, never as an argument. The zero value is none. Over https
// only: ssh has its agent.
type Credential struct{ User, Password string }

// target is a Remote that was checked.
type target struct {
	arg       string   // for git, without credentials
	shown     string   // for people, the same but inert
	transport string   // the one that is allowed
	secret    []string // settings with the credential
	secrets   []string // texts to mask
	given     bool     // there is a credential
}

// check refuses addresses that could run programs, be read as options or use a
// transport that was not allowed.
func (r Remote) check() (*target, error) {
	if strings.HasPrefix(r.URL, "-") || strings.ContainsFunc(r.URL, isControl) || r.URL == "" {
		return nil, &BadURL{inertQuote(r.URL), "it is empty, begins with '-' or has control characters"}
	}
	t := &target{arg: r.URL}
	if filepath.IsAbs(r.URL) {
		t.transport = "file"
	} else if host, _, ok := strings.Cut(r.URL, ":"); ok && strings.Contains(host, "@") && !strings.Contains(r.URL, "://") {
		t.transport = "ssh"
		if strings.HasPrefix(host[strings.Index(host, "@")+1:], "-") {
			return nil, &BadURL{inertQuote(r.URL), "its host begins with '-'"}
		}
	} else {
		u, err := url.Parse(r.URL)
		if err != nil || u.Scheme == "" || strings.Contains(r.URL, "::") && !strings.Contains(r.URL, "[") {
			return nil, &BadURL{inertQuote(Mask(r.URL)), "it is no https address"}
		}
		t.transport = u.Scheme
		if u.Scheme != "file" && (u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-")) {
			return nil, &BadURL{inertQuote(Mask(r.URL)), "it has no host, or one that begins with '-'"}
		}
		if u.User != nil && u.Scheme != "ssh" {
			if r.Credential == (Credential{}) {
				r.Credential.User = u.User.Username()
				r.Credential.Password, _ = u.User.Password()
			}
			u.User = nil
			t.arg = u.String()
		}
		if r.Credential != (Credential{}) {
			basic := base64.StdEncoding.EncodeToString([]byte(r.Credential.User + ":" + r.Credential.Password))
			if u.Scheme == "https" || u.Scheme == "http" {
				t.secret = []string{"http." + u.Scheme + "://" + u.Host + "/.extraHeader=Authorization: Basic " + basic}
				t.secrets = []string{basic, r.Credential.Password}
				t.given = true
			}
		}
	}
	t.shown = plain(Mask(t.arg))
	if t.transport != "https" && !slices.Contains(r.Allow, t.transport) {
		return nil, &BadURL{t.shown, "only https is allowed, unless a mirror mapping says otherwise"}
	}
	switch t.transport {
	case "https", "http", "file", "ssh":
		return t, nil
	}
	return nil, &BadURL{t.shown, "the transport " + plain(t.transport) + " is not known"}
}

// local returns the option that lets git serve a folder that belongs to
// another user and was not configured for single objects; git's own default
// refuses both.
func (t *target) local(option, service string) []string {
	if t.transport != "file" {
		return nil
	}
	return []string{option + "=git -c safe.directory=* -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true -c core.hooksPath=/dev/null -c receive.autogc=false " + service}
}

// config allows the one transport of this call.
func (t *target) config() []string { return []string{"protocol." + t.transport + ".allow=always"} }

// Mask returns an address without user name and password.
func Mask(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndex(host, "@"); i >= 0 {
		host = host[i+1:]
	}
	if slash {
		host += "/"
	}
	return scheme + "://" + host + path
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f || r == ' ' }
