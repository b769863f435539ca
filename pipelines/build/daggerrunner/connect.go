// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"dagger.io/dagger"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Version is that of the Dagger engine, its command and its SDK that we build
// and test with.
const Version = "v0.21.7"

// The environment variables by which Dagger's SDK finds a running session, its
// command and its engine.
const (
	sessionVariable = "DAGGER_SESSION_PORT"
	commandVariable = "_EXPERIMENTAL_DAGGER_CLI_BIN"
	engineVariable  = "_EXPERIMENTAL_DAGGER_RUNNER_HOST"
	trackVariable   = "DO_NOT_TRACK"
)

// Connect joins the Dagger session that this process runs in or, where there is
// none, starts one with the command dagger, which finds or starts the engine.
// Nothing is downloaded by us, and no usage is reported. An engine that does not
// answer is an infra error of one sentence.
func Connect(ctx context.Context) (*dagger.Client, error) {
	if os.Getenv(sessionVariable) == "" {
		if u, err := url.Parse(os.Getenv(engineVariable)); err != nil || hasPassword(u) {
			return nil, verdict.Usagef("%s is no address of an engine, such as tcp://build.example:1234; it holds no password", engineVariable)
		}
		if err := findCommand(); err != nil {
			return nil, err
		}
		if err := dial(ctx, os.Getenv(engineVariable)); err != nil {
			return nil, unreachable(ctx, err)
		}
	}
	client, err := dagger.Connect(ctx)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return client, nil
}

// findCommand tells the SDK where the command is. Without that it would download
// one that no lock names.
func findCommand() error {
	if os.Getenv(trackVariable) == "" {
		os.Setenv(trackVariable, "1") // of this process, and of the command that it starts
	}
	if os.Getenv(commandVariable) != "" {
		return nil
	}
	path, err := exec.LookPath("dagger")
	if err != nil {
		return verdict.Infraf("there is no dagger command on PATH: install Dagger %s, or name its command with %s, or build with --runner host", Version, commandVariable)
	}
	return os.Setenv(commandVariable, path)
}

// dial asks whether anybody listens where the engine should, if that is a
// socket: the command itself would try for minutes, as if it had just started
// that engine.
func dial(ctx context.Context, engine string) error {
	network, address, _ := strings.Cut(engine, "://")
	if network != "unix" && network != "tcp" {
		return nil
	}
	dialer := net.Dialer{Timeout: dialLimit}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// dialLimit bounds one attempt to reach an engine.
const dialLimit = 10 * time.Second

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has
}

// unreachable makes one sentence of what SDK and command say.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	where := "the one that the dagger command looks for"
	if session := os.Getenv(sessionVariable); session != "" {
		return verdict.Infraf("the Dagger session of %s=%s does not answer (%s): run this without that variable, or build with --runner host", sessionVariable, inert.Line(session, 20), reason(err))
	}
	if host := os.Getenv(engineVariable); host != "" {
		where = host
	}
	return verdict.Infraf("no Dagger engine answers at %s (%s): start one, or name another with %s, or build with --runner host", inert.Line(where, 100), reason(err), engineVariable)
}

// reason is the last line of an error that says something.
func reason(err error) string {
	last := "it does not say why"
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	last, _, _ = strings.Cut(last, " [traceparent:") // of the command's own reports
	return inert.Line(strings.TrimSuffix(last, "."), 200)
}

// failed says that the engine, not the step, was at fault.
func failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var exec *dagger.ExecError
	if errors.As(err, &exec) {
		err = fmt.Errorf("exit status %d", exec.ExitCode)
	}
	return verdict.Infraf("the Dagger engine failed (%s: %s): see its log, and run the same again or build with --runner host", what, reason(err))
}
