// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

const signatureGate = "signature"

// noKeys is what the gate is skipped for.
const noKeys = "the pin names no keys"

// verifyLimit bounds one call of git and what it starts.
const verifyLimit = time.Minute

// signed wants the new version signed with one of the keys that the pin names
// on main: its annotated tag, or else its commit.
func signed() Gate {
	return Gate{
		Name: signatureGate,
		What: "the new version is signed with a key that the pin names",
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			some := false
			for _, m := range s.moves() {
				if keys := m.rules().Keys; len(keys) > 0 {
					some = true
					f.fault(signature(ctx, f, s, m, keys))
				}
			}
			if !some {
				return Result{Verdict: verdict.Skipped, Why: noKeys}
			}
			return f.result()
		},
	}
}

func signature(ctx context.Context, f *findings, s *Subject, m moved, keys []pins.Key) error {
	repo, err := s.Engine.Repository(ctx, m.Pin)
	if err != nil {
		return err
	}
	ring, err := newKeyring(ctx, keys, s.BaseDir)
	if err != nil {
		return fmt.Errorf("pin %s: %w", m.Pin, err)
	}
	defer ring.remove()
	var said []string
	try := func(what, command string, id git.ID) (bool, error) {
		out, err := ring.verify(ctx, repo, command, id)
		s.logf("%s: %s %s: %s", m.Pin, command, id, out)
		if err == nil {
			f.detail("%s: the %s %s is signed by %s", m.Pin, what, id, ring.who(out))
			return true, nil
		}
		var exit *run.ExitError
		if !errors.As(err, &exit) || exit.TimedOut || exit.Signal != "" {
			return false, verdict.Infraf("pin %s: %w", m.Pin, err)
		}
		said = append(said, fmt.Sprintf("the %s %s", what, id.Short()))
		return false, nil
	}
	l := m.next.Lock
	if l.Tag != "" {
		missing, err := repo.Missing(ctx, []git.ID{git.ID(l.Tag)})
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return verdict.Infraf("pin %s: the object of its tag %s is not here: fetch it again with 'dist pins update %s'", m.Pin, shown(l.Version), m.Pin)
		}
		if err := tagIs(ctx, repo, m); err != nil {
			return err
		}
		if ok, err := try("tag", "verify-tag", git.ID(l.Tag)); ok || err != nil {
			return err
		}
	}
	if ok, err := try("commit", "verify-commit", git.ID(l.Commit)); ok || err != nil {
		return err
	}
	return verdict.Failf("pin %s: no key of the pin signed %s: look who made it, and whether the upstream has new keys", m.Pin, strings.Join(said, " or "))
}

// tagIs looks whether the tag object is for the locked commit under its locked
// name: an old signed tag under a new name proves nothing.
func tagIs(ctx context.Context, repo *git.Repo, m moved) error {
	cat, err := repo.CatFile(ctx)
	if err != nil {
		return err
	}
	defer cat.Close()
	content, err := cat.Read(git.ID(m.next.Lock.Tag), "tag")
	if err != nil {
		return err
	}
	head, _, _ := strings.Cut(string(content), "\n\n")
	name, object := "", ""
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tag":
			name = value
		case "object":
			object = value
		}
	}
	l := m.next.Lock
	if name != l.Version || object != l.Commit {
		return verdict.Failf("pin %s: the tag object %s is %s of %s, not %s of %s", m.Pin, l.Tag, shown(name), shown(object), shown(l.Version), l.Commit)
	}
	return nil
}

// A keyring is the keys of a pin where git's helpers find them, and no others.
type keyring struct {
	dir     string
	signers string // the allowed signers of SSH
	keys    []pins.Key
}

func newKeyring(ctx context.Context, keys []pins.Key, baseDir string) (*keyring, error) {
	dir, err := os.MkdirTemp("", "keys-*")
	if err != nil {
		return nil, err
	}
	k := &keyring{dir: dir, signers: filepath.Join(dir, "signers"), keys: keys}
	if err := k.fill(ctx, baseDir); err != nil {
		k.remove()
		return nil, err
	}
	return k, nil
}

func (k *keyring) remove() { os.RemoveAll(k.dir) }

// needs says which program a key wants, and whether it is here.
func needs(program, debian string) error {
	if _, err := exec.LookPath(program); err != nil {
		return verdict.Infraf("%s is not installed: signatures cannot be looked at without it (Debian's package %s)", program, debian)
	}
	return nil
}

func (k *keyring) fill(ctx context.Context, baseDir string) error {
	var signers strings.Builder
	home := filepath.Join(k.dir, "gpg")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	// No agent is started: public keys need none.
	if err := os.WriteFile(filepath.Join(home, "gpg.conf"), []byte("no-autostart\nno-auto-key-retrieve\nno-auto-key-locate\n"), 0o600); err != nil {
		return err
	}
	for i, key := range k.keys {
		if key.SSH != "" {
			if err := needs("ssh-keygen", "openssh-client"); err != nil {
				return err
			}
			fmt.Fprintf(&signers, "key%d namespaces=\"git\" %s\n", i, key.SSH)
			continue
		}
		if err := needs("gpg", "gpg"); err != nil {
			return err
		}
		path := filepath.Join(baseDir, filepath.FromSlash(key.OpenPGP))
		if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
			return verdict.Failf("the key of %s, %s, is no file on main", shown(key.Who), key.OpenPGP)
		}
		c := run.Command{
			Path: "gpg", Args: []string{"--batch", "--quiet", "--import", path},
			Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.dir, "GNUPGHOME=" + home, "LC_ALL=C"}, Timeout: verifyLimit,
		}
		if _, err := c.Run(ctx); err != nil {
			return verdict.Failf("the key of %s, %s, cannot be read: %w", shown(key.Who), key.OpenPGP, err)
		}
	}
	return os.WriteFile(k.signers, []byte(signers.String()), 0o600)
}

// verify runs git's own verification with these keys alone. What comes back is
// what the helper said.
func (k *keyring) verify(ctx context.Context, repo *git.Repo, command string, id git.ID) (string, error) {
	c := repo.Command("-c", "gpg.format=openpgp", "-c", "gpg.program=gpg", "-c", "gpg.x509.program=false",
		"-c", "gpg.ssh.program=ssh-keygen", "-c", "gpg.ssh.allowedSignersFile="+k.signers,
		"-c", "gpg.minTrustLevel=undefined", command, "--raw", string(id))
	c.Env = append(c.Env, "GNUPGHOME="+filepath.Join(k.dir, "gpg"))
	c.Timeout = verifyLimit
	r, err := c.Run(ctx)
	return shown(string(r.Stdout) + " " + string(r.Stderr)), err
}

// who finds the key in what the helper said of a good signature.
func (k *keyring) who(said string) string {
	for i, key := range k.keys {
		if strings.Contains(said, fmt.Sprintf(" key%d with ", i)) {
			return shown(key.Who)
		}
	}
	return "a key of the pin"
}
