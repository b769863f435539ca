// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A signer signs objects of git by putting the signature of a real program
// where git puts it.
type signer struct {
	t    *testing.T
	dir  string
	sign func(content []byte) string
}

func (s *signer) run(stdin []byte, path string, args ...string) string {
	s.t.Helper()
	r, err := run.Command{
		Path: path, Args: args, Stdin: bytes.NewReader(stdin),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GNUPGHOME=" + s.dir, "LC_ALL=C"},
	}.Run(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return string(r.Stdout)
}

// sshSigner returns a signer with a new key, and its public key.
func sshSigner(t *testing.T) (*signer, string) {
	parts.Need(t, "ssh-keygen")
	s := &signer{t: t, dir: t.TempDir()}
	key := filepath.Join(s.dir, "key")
	s.run(nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	s.sign = func(content []byte) string {
		return s.run(content, "ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", key)
	}
	return s, strings.TrimSpace(string(public))
}

// pgpSigner returns a signer with a new key, and that as an armoured file.
func pgpSigner(t *testing.T) (*signer, string) {
	parts.Need(t, "gpg")
	s := &signer{t: t}
	var err error
	if s.dir, err = os.MkdirTemp("", "pgp"); err != nil { // short: gpg's agent listens there
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.run(nil, "gpgconf", "--kill", "gpg-agent")
		os.RemoveAll(s.dir)
	})
	s.run(nil, "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "An author <a@example.com>", "ed25519", "sign", "never")
	s.sign = func(content []byte) string {
		return s.run(content, "gpg", "--batch", "--quiet", "--armor", "--detach-sign", "--output", "-")
	}
	return s, s.run(nil, "gpg", "--batch", "--armor", "--export")
}

// commit signs the tip of main.
func (s *signer) commit(up *gittest.Repo) git.ID {
	s.t.Helper()
	tip := up.Git("rev-parse", "main")
	content := up.Git("cat-file", "commit", tip) + "\n"
	signature := strings.ReplaceAll(strings.TrimSpace(s.sign([]byte(content))), "\n", "\n ")
	head, message, _ := strings.Cut(content, "\n\n")
	id := up.Object("commit", []byte(head+"\ngpgsig "+signature+"\n\n"+message))
	up.Move("main", id)
	return id
}

// tag makes a signed tag.
func (s *signer) tag(up *gittest.Repo, name string, id git.ID) git.ID {
	s.t.Helper()
	content := []byte("object " + string(id) + "\ntype commit\ntag " + name + "\ntagger A <a@example.com> 1790000000 +0000\n\nrelease\n")
	tag := up.Object("tag", append(content, s.sign(content)...))
	up.Git("update-ref", "refs/tags/"+name, string(tag))
	return tag
}

func TestSignatureOfCommits(t *testing.T) {
	author, public := sshSigner(t)
	stranger, other := sshSigner(t)
	w := newWorld(t, "")
	up := w.follow("a", "keys: [{who: An author, ssh: '"+public+"'}]\n")
	commits(up, 1)
	w.update("a")
	w.commit()

	next := func() *Subject {
		w.update("a")
		return offline(w.subject())
	}
	commits(up, 2)
	author.commit(up)
	s := next()
	r := w.gate("signature", s)
	w.wants("signed", r, verdict.Pass, false)
	w.details("signed", r, "is signed by An author")

	// The keys are those of main, whatever the round has.
	s.Next.Pin("a").Keys = []pins.Key{{Who: "x", SSH: other}}
	w.wants("the round names another key", w.gate("signature", s), verdict.Pass, false)

	commits(up, 3)
	w.wants("not signed", w.gate("signature", next()), verdict.Fail, false, "pin a: no key of the pin signed the commit")
	commits(up, 1)
	id := stranger.commit(up)
	w.wants("a stranger", w.gate("signature", next()), verdict.Fail, false, "no key of the pin signed the commit "+id.Short())
	commits(up, 1)
	author.commit(up)
	content := up.Git("cat-file", "commit", "main")
	up.Move("main", up.Object("commit", []byte(strings.Replace(content, "a commit", "a crime!", 1)+"\n")))
	w.wants("changed afterwards", w.gate("signature", next()), verdict.Fail, false, "no key of the pin signed")

	s = next()
	s.Base.Pin("a").Keys = nil
	w.wants("no keys", w.gate("signature", s), verdict.Skipped, false, "the pin names no keys")
	s.Base.Pin("a").Keys = []pins.Key{{Who: "x", OpenPGP: "ci/trust/x.asc"}}
	t.Run("no gpg", func(t *testing.T) {
		t.Setenv("PATH", filepath.Join(w.cache, "nothing"))
		ring, err := newKeyring(t.Context(), s.Base.Pin("a").Keys, w.base)
		if ring != nil || verdict.Of(err) != verdict.Infra {
			t.Errorf("%v", err)
		}
	})
}

func TestSignatureOfTags(t *testing.T) {
	t.Parallel()
	author, public := sshSigner(t)
	w := newWorld(t, "")
	up := w.follow("a", "keys: [{who: An author, ssh: '"+public+"'}]\ntrack:\n  kind: git-tag\n  schemes: [{pattern: 'v{semver}'}]\n")
	ids := commits(up, 3)
	up.Tag("v1.0.0", ids[0])
	w.update("a")
	w.commit()
	author.tag(up, "v1.1.0", ids[1])
	w.update("a")
	s := offline(w.subject())
	r := w.gate("signature", s)
	w.wants("a signed tag", r, verdict.Pass, false)
	w.details("a signed tag", r, "the tag", "is signed by An author")

	// A signed tag of another version under this one's name.
	s.Next.Pin("a").Lock.Version = "v1.2.0"
	w.wants("another tag", w.gate("signature", s), verdict.Fail, false, "is v1.1.0 of")
	s.Next.Pin("a").Lock.Tag = strings.Repeat("1", 40)
	w.wants("its object is not here", w.gate("signature", s), verdict.Infra, false, "is not here")

	up.Annotated("v1.3.0", "unsigned", ids[2])
	w.update("a")
	w.wants("nothing is signed", w.gate("signature", offline(w.subject())), verdict.Fail, false, "the tag", "or the commit")
}

func TestSignatureByOpenPGP(t *testing.T) {
	t.Parallel()
	author, public := pgpSigner(t)
	w := newWorld(t, "")
	w.write("ci/trust/a.asc", public)
	up := w.follow("a", "keys: [{who: An author, openpgp: ci/trust/a.asc}]\n")
	commits(up, 1)
	w.update("a")
	w.commit()
	commits(up, 2)
	author.commit(up)
	w.update("a")
	s := offline(w.subject())
	w.wants("signed", w.gate("signature", s), verdict.Pass, false)

	if err := os.WriteFile(filepath.Join(w.base, "ci/trust/a.asc"), []byte("no key"), 0o666); err != nil {
		t.Fatal(err)
	}
	w.wants("no key in the file", w.gate("signature", s), verdict.Fail, false, "ci/trust/a.asc, cannot be read")
	if err := os.Remove(filepath.Join(w.base, "ci/trust/a.asc")); err != nil {
		t.Fatal(err)
	}
	w.wants("main has no such file", w.gate("signature", s), verdict.Fail, false, "is no file on main")
	_, other := sshSigner(t)
	s.Base.Pin("a").Keys = []pins.Key{{Who: "x", SSH: other}}
	w.wants("another key", w.gate("signature", s), verdict.Fail, false, "no key of the pin signed")
}
