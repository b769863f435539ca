// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := New(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if !public.Equal(key.Public()) {
		t.Errorf("public half %x, want %x", key.Public(), public)
	}
	if _, err := New(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("written over: %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, content) {
		t.Error("the key is another one")
	}
	secret := strings.Split(string(content), "\n")[1]
	refuse := func(what, path string) {
		t.Helper()
		key, err := Read(path)
		if err == nil || key != nil {
			t.Errorf("%s: read", what)
		} else if verdict.ExitCode(err) != verdict.ExitUsage {
			t.Errorf("%s: exit code %d: %v", what, verdict.ExitCode(err), err)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error has the key", what)
		}
	}
	refuse("folder", filepath.Dir(path))
	refuse("absent", path+".absent")
	for what, data := range map[string]string{
		"empty": "", "text": "secret", "two": string(content) + string(content), "cut": string(content[:60]),
		"public": strings.ReplaceAll(string(content), "PRIVATE", "PUBLIC"), "no DER": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
	} {
		bad := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(bad, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		refuse(what, bad)
	}
	if runtime.GOOS != "windows" {
		for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o644} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			refuse(fmt.Sprintf("%o", mode), path)
		}
	}
}
