// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package toolchain brings the pinned toolchains into the store. What comes in
// is known by its sum before it is used; where it comes from is the user's
// matter.
package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// downloadLimit bounds one call of the go client that may use the network.
const downloadLimit = 20 * time.Minute

// hostSettings are the settings of the user's go command that say from where
// modules come and with which credentials. All others are ours.
var hostSettings = []string{"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOAUTH", "GOVCS", "GOSUMDB"}

// networkVariables are what a go client that downloads may see of the user's
// environment; it needs PATH for the programs of GOAUTH and GOVCS, and HOME
// for .netrc.
var networkVariables = []string{
	"PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "NETRC",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// A HostGo is the machine's own go command. It is used as a download client
// only: nothing that it brings is believed without its sum.
type HostGo struct {
	Path     string
	Settings []string // of hostSettings, as NAME=value
}

// FindHostGo returns the go commands of this machine that answer sensibly, the
// likeliest first: the one of GOROOT, then PATH's.
func FindHostGo(ctx context.Context) []HostGo {
	name := "go"
	if runtime.GOOS == "windows" {
		name = "go.exe"
	}
	var places []string
	if root := os.Getenv("GOROOT"); root != "" {
		places = append(places, filepath.Join(root, "bin", name))
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			places = append(places, filepath.Join(dir, name))
		}
	}
	var found []HostGo
	for i, path := range places {
		if slices.Contains(places[:i], path) {
			continue
		}
		if _, err := exec.LookPath(path); err != nil {
			continue
		}
		if settings, ok := askSettings(ctx, path); ok {
			found = append(found, HostGo{Path: path, Settings: settings})
		}
	}
	return found
}

// askSettings asks a go command for the user's settings, which may also stand
// in the file that GOENV names.
func askSettings(ctx context.Context, path string) ([]string, bool) {
	env := []string{"GOTOOLCHAIN=local", "GOFLAGS=-mod=mod"}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GOTOOLCHAIN=") && !strings.HasPrefix(kv, "GOFLAGS=") {
			env = append(env, kv)
		}
	}
	r, err := run.Command{Path: path, Args: append([]string{"env", "-json"}, hostSettings...), Env: env, Timeout: 20 * time.Second}.Run(ctx)
	if err != nil {
		return nil, false
	}
	var answer map[string]string
	if json.Unmarshal(r.Stdout, &answer) != nil {
		return nil, false
	}
	var settings []string
	for _, name := range hostSettings {
		if v := answer[name]; v != "" {
			settings = append(settings, name+"="+v)
		}
	}
	return settings, true
}

// NetworkEnv returns the environment for a go command that may download
// modules into modCache: nothing of the user's but where modules come from.
func NetworkEnv(settings []string, modCache, buildCache, tmp string) []string {
	env := []string{
		"GOENV=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GOWORK=off",
		"GOMODCACHE=" + modCache, "GOCACHE=" + buildCache, "TMPDIR=" + tmp, "LC_ALL=C",
	}
	for _, name := range networkVariables {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, settings...)
}

// diskFull is what programs print when a write fails for want of room.
const diskFull = "no space left on device"

// explainDownload makes one sentence of what the go client said.
func explainDownload(what string, err error) error {
	var exit *run.ExitError
	if !errors.As(err, &exit) {
		return verdict.Infraf("%s: %w", what, err)
	}
	why := exit.Stderr
	if strings.Contains(why, diskFull) {
		return fmt.Errorf("%s: %w", what, syscall.ENOSPC)
	}
	if exit.TimedOut {
		why = "no answer in time"
	}
	if lines := strings.Split(strings.TrimSpace(why), "\n"); len(lines) > 0 {
		why = strings.TrimSpace(lines[len(lines)-1])
	}
	return verdict.Infraf("%s could not be downloaded through the Go module proxy (%s): check the network and 'go env GOPROXY'", what, why)
}
