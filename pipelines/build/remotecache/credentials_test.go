// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
)

// Credentials go to the registry and nowhere else.
func TestCredentials(t *testing.T) {
	const password = "correct-horse-battery"
	h := newHub(t)
	newMachine(t, h.address(t), pushing).make(t, "demo")
	h.fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if _, given, _ := r.BasicAuth(); given != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
			w.WriteHeader(http.StatusUnauthorized)
			user, given, _ := r.BasicAuth()
			fmt.Fprintf(w, `{"errors":[{"code":"UNAUTHORIZED","message":"%s %s"}]}`, user, given)
			return
		}
		next.ServeHTTP(w, r)
	})
	host := h.address(t).repo.RegistryStr()
	docker := func(o *Options, _ *limits, k *authn.Keychain) { *k = authn.DefaultKeychain }
	for _, c := range []struct {
		name, config, helper string
		hit                  bool
		warn                 string
	}{
		{"right", `{"auths":{"` + host + `":{"username":"u","password":"` + password + `"}}}`, "", true, ""},
		{"wrong", `{"auths":{"` + host + `":{"username":"u","password":"hunter2-secret"}}}`, "", false, "it wants other credentials (Unauthorized): log in with your container tool"},
		{"none", `{}`, "", false, "it wants other credentials"},
		{"no JSON", `{"auths": hunter2-secret`, "", false, "credentials cannot be had (they are not readable)"},
		{"a helper that fails", `{"credHelpers":{"` + host + `":"demo"}}`, "echo hunter2-secret; exit 1", false, "credentials cannot be had"},
		{"a helper that works", `{"credHelpers":{"` + host + `":"demo"}}`, `echo '{"Username":"u","Secret":"` + password + `"}'`, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			t.Setenv("DOCKER_CONFIG", dir)
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.helper != "" {
				if err := os.WriteFile(filepath.Join(dir, "docker-credential-demo"), []byte("#!/bin/sh\n"+c.helper+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			}
			m := newMachine(t, h.address(t), docker)
			if made := m.make(t, "demo"); (made.From != "") != c.hit {
				t.Errorf("got %+v", made)
			}
			m.warned(t, c.warn)
			if said := m.said.String(); strings.Contains(said, "hunter2") || strings.Contains(said, password) {
				t.Errorf("it says %s", said)
			}
		})
	}
	t.Run("a helper that hangs", func(t *testing.T) {
		stop := make(chan struct{})
		defer close(stop)
		m := newMachine(t, h.address(t), func(_ *Options, l *limits, k *authn.Keychain) {
			l.answer, *k = 100*time.Millisecond, hanging{stop}
		})
		m.make(t, "demo")
		m.warned(t, "its helper did not answer")
	})
}

type hanging struct{ stop chan struct{} }

func (h hanging) Resolve(authn.Resource) (authn.Authenticator, error) {
	<-h.stop
	return nil, errors.New("stopped")
}
