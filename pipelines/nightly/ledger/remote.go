// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

var remoteNameRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// RemoteOf returns a repository that a night pushes to, for the state branch or
// for proposals: the name of one of the clone's remotes, an https or ssh
// address, or an absolute folder. What
// it is fetched from is also where it is pushed to; a separate push address of
// the remote is not looked at. The credential is for https, and for http on
// this machine; there is no other http.
//
// What cannot be an address, and a name that the clone does not have, are
// usage errors.
func RemoteOf(ctx context.Context, repo *git.Repo, nameOrURL string, c git.Credential) (git.Remote, error) {
	address := nameOrURL
	if remoteNameRE.MatchString(nameOrURL) {
		out, err := repo.Output(ctx, "config", "--get", "remote."+nameOrURL+".url")
		var exit *run.ExitError
		switch address = strings.TrimSpace(string(out)); {
		case errors.As(err, &exit) && exit.Code == 1, err == nil && address == "":
			return git.Remote{}, verdict.Usagef("this clone has no remote %s: name one that it has, an https or ssh address, or an absolute folder", nameOrURL)
		case err != nil:
			return git.Remote{}, err
		}
	}
	r := git.Remote{URL: address, Credential: c}
	switch u, err := url.Parse(address); {
	case filepath.IsAbs(address), err == nil && u.Scheme == "file":
		r.Allow = []string{"file"}
	case err == nil && u.Scheme == "https":
	case err == nil && u.Scheme == "http" && loopback(u.Hostname()):
		r.Allow = []string{"http"}
	case err == nil && u.Scheme == "ssh", !strings.Contains(address, "://") && strings.Contains(address, "@") && strings.Contains(address, ":"):
		r.Allow = []string{"ssh"}
	default:
		return git.Remote{}, verdict.Usagef("%s is no repository to push to: give a remote's name, an https or ssh address, or an absolute folder", quote(git.Mask(address)))
	}
	return r, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
