// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// job is one with an input and two steps.
func job(t *testing.T, r *recorder, log *bytes.Buffer) build.Job {
	t.Helper()
	source, out := t.TempDir(), t.TempDir()
	r.names[source], r.names[out] = "source demo", "the output"
	return build.Job{
		Name: "demo", Binds: []sandbox.Bind{{From: source, To: "/src/demo"}}, Out: out, Log: log, Epoch: 1,
		Steps: []build.Step{{Name: "one", Args: []string{"cc", "-c"}}, {Name: "two", Args: []string{"ld"}, Dir: "/src/demo", Env: []string{"A=b"}}},
	}
}

func TestRunEndsAsOnTheHost(t *testing.T) {
	const refusal = "dist-step: no-such-program: not found in /bin\n"
	for _, c := range []struct {
		name    string
		code    int
		printed string
		want    error
		log     string
	}{
		{"done", 0, "hello\n", nil, "hello\n"},
		{"failed", 3, "why\n", &sandbox.ExitError{Code: 3}, "why\n"},
		{"killed", 137, "said\n", &sandbox.ExitError{Code: 137, Signal: "SIGKILL"}, "said\n"},
		{"a code of the step's own", 125, "dist\n", &sandbox.ExitError{Code: 125}, "dist\n"},
		{"a step that prints as dist-step does", 1, refusal, &sandbox.ExitError{Code: 1}, refusal},
		{"a program that is not there", 125, refusal, &sandbox.NotStarted{What: "no-such-program", Why: "not found in /bin"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRecorder(t)
			var log bytes.Buffer
			runner := r.runner(t)
			r.answer = func(_ []string, run string, _ bool) (int, string, error) {
				if c.code > 128 { // as an engine says it
					return 0, "", &execError{c.code, strings.TrimSpace(run + "\n" + c.printed)}
				}
				return c.code, run + "\n" + c.printed, nil
			}
			steps, err := runner.Run(t.Context(), job(t, r, &log))
			if c.want == nil {
				if err != nil || len(steps) != 2 || steps[0].Way != "dagger" {
					t.Fatalf("%+v, %v", steps, err)
				}
				return
			}
			var failed *build.StepError
			if !errors.As(err, &failed) || failed.Step != "one" || failed.Component != "demo" || fmt.Sprintf("%#v", failed.Err) != fmt.Sprintf("%#v", c.want) {
				t.Fatalf("%#v, want %#v", err, c.want)
			}
			want := "==== one: cc -c\n" + c.log + "==== one: " + c.want.Error() + "\n"
			if len(steps) != 1 || log.String() != want {
				t.Errorf("%d steps, the log is %q, want %q", len(steps), log.String(), want)
			}
		})
	}
}

// What failed before is tried again, once; what was done is not.
func TestRunTriesAgainWhatTheEngineRemembersAsFailed(t *testing.T) {
	for _, c := range []struct {
		name  string
		codes [2]int // of what is remembered, and of one more try
		tries int
		fails bool
	}{
		{"done before", [2]int{0, 9}, 0, false},
		{"failed before, not now", [2]int{1, 0}, 1, false},
		{"failed before and now", [2]int{1, 2}, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRecorder(t)
			runner := r.runner(t)
			var tries []string
			r.answer = func(args []string, run string, again bool) (int, string, error) {
				if !again {
					return c.codes[0], "another run\n", nil
				}
				tries = append(tries, run)
				return c.codes[1], run + "\n", nil
			}
			var log bytes.Buffer
			j := job(t, r, &log)
			j.Steps = j.Steps[:1]
			_, err := runner.Run(t.Context(), j)
			if (err != nil) != c.fails {
				t.Error(err)
			}
			slices.Sort(tries)
			if n := len(slices.Compact(tries)); n != c.tries {
				t.Errorf("%d tries, want %d", n, c.tries)
			}
			if remembered := strings.Contains(log.String(), "the engine remembered it"); remembered != (c.tries == 0) {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}

func TestAnEngineThatTakesNoFilterOpensTheNetwork(t *testing.T) {
	r := newRecorder(t)
	r.answer = func([]string, string, bool) (int, string, error) {
		return 0, "", &execError{125, "\ndist-step: seccomp: install the filter: operation not permitted\n"}
	}
	runner := r.runner(t)
	if runner.Space() != build.NetworkOpen {
		t.Errorf("the space is %q", runner.Space())
	}
	var args []string
	r.answer = func(a []string, run string, _ bool) (int, string, error) { args = a; return 0, run + "\n", nil }
	if _, err := runner.Run(t.Context(), job(t, r, &bytes.Buffer{})); err != nil || !slices.Contains(args, "-open") {
		t.Errorf("%q, %v", args, err)
	}
}

// An engine that took the filter and then does not is at fault.
func TestAFilterThatIsGone(t *testing.T) {
	r := newRecorder(t)
	runner := r.runner(t)
	r.answer = func(_ []string, run string, _ bool) (int, string, error) {
		return 125, run + "\ndist-step: seccomp: operation not permitted\n", nil
	}
	_, err := runner.Run(t.Context(), job(t, r, &bytes.Buffer{}))
	if verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "no longer lets a step be shut off") {
		t.Error(err)
	}
}

func TestAnEngineThatFailsIsInfra(t *testing.T) {
	r := newRecorder(t)
	runner := r.runner(t)
	r.answer = func([]string, string, bool) (int, string, error) {
		return 0, "", errors.New("write /var/lib/dagger: no space left on device\x1b[31m")
	}
	_, err := runner.Run(t.Context(), job(t, r, &bytes.Buffer{}))
	if verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "no space left on device): see its log") {
		t.Errorf("%s: %v", verdict.Of(err), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runner.Run(ctx, job(t, r, &bytes.Buffer{})); !errors.Is(err, context.Canceled) {
		t.Errorf("a build that was ended: %v", err)
	}
}

// TestTheRecorderRefuses is a test of the tests: what they must not let pass.
func TestTheRecorderRefuses(t *testing.T) {
	r := newRecorder(t)
	r.names["/known"] = "source known"
	for _, c := range []struct{ name, query, say string }{
		{"git", `query{git(url:"https://example.com/a"){head{tree{id}}}}`, `Cannot query field "git"`},
		{"http", `query{http(url:"https://example.com/a"){id}}`, `Cannot query field "http"`},
		{"an image", `query{container{from(address:"debian"){stdout}}}`, `Cannot query field "from"`},
		{"an unknown argument", `query{container{withExec(args:["/dist-step"],insecureRootCapabilities:true){stdout}}}`, `Unknown argument "insecureRootCapabilities"`},
		{"a folder of no input", `query{host{directory(path:"/etc"){id}}}`, "/etc is no input of the plan"},
		{"a file of no input", `query{host{file(path:"/etc/passwd"){id}}}`, "/etc/passwd is no input of the plan"},
		{"an id of nobody's", `query{container{withRootfs(directory:"id-9"){stdout}}}`, `nobody got the id "id-9"`},
		{"a bare program", `query{container{withExec(args:["cc"]){stdout}}}`, "cc is not dist-step"},
		{"a shell", `query{container{withExec(args:["/dist-step","--","/bin/sh","-c","true"]){stdout}}}`, "the step starts /bin/sh"},
		{"an export elsewhere", `query{directory{export(path:"/etc")}}`, "/etc is no input of the plan"},
	} {
		if _, err := r.query(c.query); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want %q", c.name, err, c.say)
		}
	}
	if _, err := r.query(`query{host{directory(path:"/known"){id}}}`); err != nil {
		t.Error(err)
	}
}

func TestConnectSaysWhoDoesNotAnswer(t *testing.T) {
	dir := t.TempDir()
	command := filepath.Join(dir, "dagger")
	if err := os.WriteFile(command, []byte("#!/bin/sh\necho 'Error: start engine: no docker here. [traceparent:00-11]' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, engine, say string }{
		{"a session that is none", dir, "session", "the Dagger session of DAGGER_SESSION_PORT=abc does not answer"},
		{"no command", "/nowhere", "", "there is no dagger command on PATH"},
		{"no socket", dir, "unix:///nowhere/engine.sock", "no Dagger engine answers at unix:///nowhere/engine.sock"},
		{"a closed port", dir, "tcp://127.0.0.1:1", "no Dagger engine answers at tcp://127.0.0.1:1"},
		{"a command that fails", dir, "", "no Dagger engine answers at the one that the dagger command looks for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range map[string]string{sessionVariable: "", trackVariable: "", commandVariable: "", "PATH": c.path, engineVariable: c.engine} {
				t.Setenv(name, value) // and as it was afterwards
			}
			if os.Unsetenv(sessionVariable); c.engine == "session" {
				os.Setenv(sessionVariable, "abc")
			}
			_, err := Connect(t.Context())
			if verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "traceparent") || !strings.Contains(err.Error(), "--runner host") {
				t.Errorf("%s: %v", verdict.Of(err), err)
			}
		})
	}
}

// What is no address is not repeated: it may hold a password.
func TestConnectKeepsPasswords(t *testing.T) {
	for _, engine := range []string{"tcp://user:hunter2@127.0.0.1:1", "ssh://user:hunter2@build.example", "tcp://user:hunter2@[::1", "://hunter2"} {
		for name, value := range map[string]string{sessionVariable: "", trackVariable: "1", commandVariable: "/nowhere/dagger", engineVariable: engine} {
			t.Setenv(name, value)
		}
		_, err := Connect(t.Context())
		if verdict.ExitCode(err) != verdict.ExitUsage || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), engineVariable) {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

// Two clients that ask for the same share an exec, and when one of them is
// killed the engine may end it for both.
func TestRunGoesOnWithoutAnotherClient(t *testing.T) {
	r := newRecorder(t)
	runner := r.runner(t)
	asked := 0
	r.answer = func(_ []string, run string, _ bool) (int, string, error) {
		if asked++; asked < 3 {
			return 0, "", errors.New("failed to commit a to immutable b: context canceled")
		}
		return 0, run + "\n", nil
	}
	if _, err := runner.Run(t.Context(), job(t, r, &bytes.Buffer{})); err != nil {
		t.Error(err)
	}
	r.answer = func([]string, string, bool) (int, string, error) { return 0, "", errors.New("context canceled") }
	if _, err := runner.Run(t.Context(), job(t, r, &bytes.Buffer{})); verdict.Of(err) != verdict.Infra {
		t.Errorf("an engine that ends everything: %v", err)
	}
}
