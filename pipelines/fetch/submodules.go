// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// Bounds of submodules, far above what honest upstreams have.
const (
	maxSubmoduleDepth = 10
	maxSubmodules     = 200
)

// submoduleURLs reads .gitmodules of a tree: the address of each path, as it is
// written there. A tree without the file has none.
func submoduleURLs(ctx context.Context, r *git.Repo, entries []git.Entry) (map[string]string, error) {
	urls := map[string]string{}
	for _, x := range entries {
		if x.Path != ".gitmodules" {
			continue
		}
		if x.Mode != git.ModeFile && x.Mode != git.ModeExecutable {
			return nil, errors.New(".gitmodules is no file")
		}
		out, err := r.Output(ctx, "config", "--no-includes", "--blob", string(x.ID), "--null", "--list")
		if err != nil {
			return nil, fmt.Errorf(".gitmodules can not be read: %w", err)
		}
		return parseModules(string(out)), nil
	}
	return urls, nil
}

// parseModules reads what 'git config --null --list' says of .gitmodules. The
// last value of a key counts, as for git.
func parseModules(list string) map[string]string {
	paths, urls := map[string]string{}, map[string]string{}
	for entry := range strings.SplitSeq(list, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		rest, ok := strings.CutPrefix(key, "submodule.")
		if !ok {
			continue
		}
		i := strings.LastIndexByte(rest, '.')
		if i < 0 {
			continue
		}
		switch name := rest[:i]; rest[i+1:] {
		case "path":
			paths[name] = strings.TrimSuffix(value, "/")
		case "url":
			urls[name] = value
		}
	}
	out := map[string]string{}
	for name, path := range paths {
		if urls[name] != "" {
			out[path] = urls[name]
		}
	}
	return out
}

// resolveURL returns the address of a submodule that is written as u in a
// repository at base. Relative ones count from the upstream's own address, not
// from where a mirror has it.
func resolveURL(base, u string) (string, error) {
	if u == "" || strings.HasPrefix(u, "-") || strings.ContainsFunc(u, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", fmt.Errorf("its address %s is empty, begins with '-' or has blanks or control characters", quoted(u))
	}
	if !strings.HasPrefix(u, "./") && !strings.HasPrefix(u, "../") {
		p, err := url.Parse(u)
		if err != nil || p.Scheme == "" || p.Host == "" || strings.Contains(u, "::") {
			return "", fmt.Errorf("its address %s is not https", quoted(u))
		}
		if p.User != nil {
			return "", fmt.Errorf("its address %s carries a user name", quoted(git.Mask(u)))
		}
		return u, nil
	}
	b, err := url.Parse(base)
	if err != nil || b.Host == "" {
		return "", fmt.Errorf("its address %s is relative to %s, which is no address", quoted(u), quoted(base))
	}
	folders := strings.Split(strings.Trim(b.Path, "/"), "/")
	for {
		if rest, ok := strings.CutPrefix(u, "./"); ok {
			u = rest
		} else if rest, ok := strings.CutPrefix(u, "../"); ok {
			if len(folders) == 0 || folders[0] == "" {
				return "", fmt.Errorf("its relative address leads above the root of %s", quoted(b.Host))
			}
			u, folders = rest, folders[:len(folders)-1]
		} else {
			break
		}
	}
	if u == "" || strings.Contains("/"+u+"/", "/../") {
		return "", fmt.Errorf("its relative address leads nowhere")
	}
	b.Path, b.RawPath = "/"+strings.Join(append(folders, u), "/"), ""
	return b.String(), nil
}

func quoted(s string) string { return fmt.Sprintf("%+q", shown(s)) }
