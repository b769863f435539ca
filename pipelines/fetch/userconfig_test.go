// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A proxy that wants a password is the machine's trouble, in one sentence
// without the password that was given.
func TestAskingProxy(t *testing.T) {
	proxy := gittest.AskingProxy(t)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "http://me:sekret@"+proxy[len("http://"):])
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	w := newWorld(t)
	w.pin("x", followMain)
	r := w.refused("x", verdict.Infra, "https://up.example/x.git", "proxy")
	if strings.Contains(r.Why, "sekret") {
		t.Errorf("the password is shown: %s", r.Why)
	}
}

// What a person's own git configuration says changes nothing: no address is
// rewritten, no proxy is used.
func TestUserConfigIsNotRead(t *testing.T) {
	up, other := gittest.New(t), gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "right"})
	other.Commit("main", "one", gittest.Files{"a": "wrong"})
	w := newWorld(t)
	s := w.serve("x", up, gittest.ServerOptions{})
	home := t.TempDir()
	text := "[url \"file://" + other.Dir() + "\"]\n\tinsteadOf = " + s.URL + "/repo.git\n[http]\n\tproxy = " + gittest.ClosedPort(t) + "\n"
	if err := os.WriteFile(home+"/.gitconfig", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", home+"/.gitconfig")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "http.proxy")
	t.Setenv("GIT_CONFIG_VALUE_0", gittest.ClosedPort(t))
	w.pin("x", followMain)
	w.must("x")
	if got := w.read(w.get("x"), "a"); got != "right" {
		t.Errorf("content %q", got)
	}
}
