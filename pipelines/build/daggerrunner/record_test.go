// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dagger.io/dagger"
	"dagger.io/dagger/engineconn"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// A recorder is an engine of which only the ears are real: it takes queries as
// the SDK sends them, refuses those that do not fit testdata/schema.graphql,
// start a shell, or name a place of the host that it does not know, and writes
// down the others.
type recorder struct {
	schema *ast.Schema
	names  map[string]string // what lies at a place of the host
	nameOf func(string) string

	// answer is what the engine says of an exec: its exit code and what the
	// step printed. run is what DIST_STEP_RUN said, again whether the exec is
	// one more for what the engine remembers as failed.
	answer func(args []string, run string, again bool) (code int, printed string, err error)
	// export makes what a folder has that is brought to the host.
	export func(dir string) error

	mu    sync.Mutex
	ids   map[string]string // what an id stands for, written out
	last  []string          // the chain that was written down last
	calls strings.Builder
	used  map[string]bool // names of places that were asked for
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	text, err := os.ReadFile("testdata/schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return &recorder{
		schema: schema, names: map[string]string{}, ids: map[string]string{}, used: map[string]bool{},
		nameOf: func(string) string { return "" },
		answer: func(_ []string, run string, _ bool) (int, string, error) { return 0, run + "\nprinted\n", nil },
		export: func(string) error { return nil },
	}
}

// conn is a connection to the recorder, for the SDK.
type conn struct {
	*http.Client
	host string
}

func (c conn) Host() string { return c.host }
func (c conn) Close() error { return nil }

var _ engineconn.EngineConn = conn{}

// runner returns a Runner that talks to the recorder.
func (r *recorder) runner(t *testing.T) *Runner {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	step := filepath.Join(t.TempDir(), "dist-step")
	r.names[step] = "dist-step"
	runner, err := New(t.Context(), Options{
		Step: func(context.Context) (string, error) { return step, nil },
		Connect: func(ctx context.Context) (*dagger.Client, error) {
			return dagger.Connect(ctx, dagger.WithConn(conn{server.Client(), strings.TrimPrefix(server.URL, "http://")}))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// ServeHTTP answers one query.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var body struct{ Query string }
	err := json.NewDecoder(req.Body).Decode(&body)
	var answer any
	if err == nil {
		answer, err = r.query(body.Query)
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		said := map[string]any{"message": err.Error()}
		var exec *execError
		if errors.As(err, &exec) {
			said["extensions"] = map[string]any{"_type": "EXEC_ERROR", "exitCode": exec.code, "stdout": exec.stdout, "cmd": []string{}}
		}
		json.NewEncoder(w).Encode(map[string]any{"errors": []any{said}})
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"data": answer})
}

// An execError is what an engine says of an exec whose failure nobody expected.
type execError struct {
	code   int
	stdout string
}

func (e *execError) Error() string { return fmt.Sprintf("exit code: %d", e.code) }

// query follows the one chain of fields of a query to its leaf.
func (r *recorder) query(text string) (any, error) {
	doc, errs := gqlparser.LoadQueryWithRules(r.schema, text, rules.NewDefaultRules())
	if errs != nil {
		return nil, errs
	}
	var chain, path []string
	var exec execution
	set := doc.Operations[0].SelectionSet
	for {
		if len(set) != 1 {
			return nil, fmt.Errorf("%d fields at once", len(set))
		}
		f, ok := set[0].(*ast.Field)
		if !ok {
			return nil, fmt.Errorf("a fragment")
		}
		args, err := r.arguments(f)
		if err != nil {
			return nil, err
		}
		path = append(path, f.Alias)
		chain = append(chain, f.Name+args)
		switch f.Name {
		case "withVolatileVariable", "withEnvVariable":
			value := f.Arguments.ForName("value").Value.Raw
			chain[len(chain)-1] = strings.ReplaceAll(chain[len(chain)-1], strconv.Quote(value), "the run's name")
			if f.Name == "withEnvVariable" {
				exec.again = true
			} else {
				exec.run = value
			}
		case "withExec":
			if exec.args, err = words(f); err != nil {
				return nil, err
			}
		}
		if set = f.SelectionSet; len(set) > 0 {
			continue
		}
		leaf, err := r.leaf(f, chain, exec)
		for _, name := range slices.Backward(path) {
			leaf = map[string]any{name: leaf}
		}
		return leaf, err
	}
}

// An execution is the last exec of a chain.
type execution struct {
	args  []string
	run   string
	again bool
}

// leaf answers the last field of a chain.
func (r *recorder) leaf(f *ast.Field, chain []string, exec execution) (any, error) {
	switch f.Name {
	case "id":
		text := strings.Join(chain[:len(chain)-1], ".")
		id := fmt.Sprintf("id-%d", len(r.ids))
		for known, same := range r.ids {
			if same == text {
				id = known
			}
		}
		r.ids[id] = text
		return id, nil
	case "exitCode":
		r.write(chain)
		code, _, err := r.answer(exec.args, exec.run, exec.again)
		return code, err
	case "stdout":
		r.write(chain)
		_, printed, err := r.answer(exec.args, exec.run, exec.again)
		return printed, err
	case "export":
		r.write(chain)
		dir := f.Arguments.ForName("path").Value.Raw
		return dir, r.export(dir)
	}
	return nil, fmt.Errorf("the recorder has no answer to %s", f.Name)
}

// arguments writes the arguments of a field in the schema's order, ids as what
// they stand for and places of the host as what lies there.
func (r *recorder) arguments(f *ast.Field) (string, error) {
	var list []string
	for _, def := range f.Definition.Arguments {
		arg := f.Arguments.ForName(def.Name)
		if arg == nil {
			continue
		}
		text, err := r.value(f, arg)
		if err != nil {
			return "", err
		}
		list = append(list, def.Name+": "+text)
	}
	if len(list) == 0 {
		return "", nil
	}
	return "(" + strings.Join(list, ", ") + ")", nil
}

func (r *recorder) value(f *ast.Field, arg *ast.Argument) (string, error) {
	v := arg.Value
	switch {
	case v.ExpectedType.Name() == "ID":
		text, ok := r.ids[v.Raw]
		if !ok {
			return "", fmt.Errorf("nobody got the id %q", v.Raw)
		}
		return text, nil
	case f.ObjectDefinition.Name == "Host" && arg.Name == "path", f.Name == "export":
		name := r.place(v.Raw)
		if name == "" {
			return "", fmt.Errorf("%s is no input of the plan", v.Raw)
		}
		r.used[name] = true
		return name, nil
	case v.Kind == ast.ListValue:
		var b strings.Builder
		between := " "
		if f.Name == "withExec" {
			between = "\n    "
		}
		for _, c := range v.Children {
			b.WriteString(between + strconv.Quote(c.Value.Raw))
		}
		return "[" + b.String() + "]", nil
	case v.Kind == ast.StringValue:
		return strconv.Quote(v.Raw), nil
	}
	return v.String(), nil
}

// place names what lies at a place of the host.
func (r *recorder) place(p string) string {
	if name, ok := r.names[p]; ok {
		return name
	}
	return r.nameOf(p)
}

// shells are programs that run text.
var shells = []string{"sh", "bash", "dash", "zsh", "busybox", "env", "xargs", "git", "curl", "wget"}

// words returns the argument vector of an exec: dist-step and what it becomes.
func words(f *ast.Field) ([]string, error) {
	var args []string
	for _, c := range f.Arguments.ForName("args").Value.Children {
		args = append(args, c.Value.Raw)
	}
	if args[0] != stepPath {
		return nil, fmt.Errorf("%s is not dist-step", args[0])
	}
	i := slices.Index(args, "--")
	if i >= 0 && slices.Contains(shells, path.Base(args[i+1])) {
		return nil, fmt.Errorf("the step starts %s", args[i+1])
	}
	return args, nil
}

// write writes down what of a chain is new.
func (r *recorder) write(chain []string) {
	same := 0
	for same < len(chain) && same < len(r.last) && chain[same] == r.last[same] {
		same++
	}
	if same == 0 && r.calls.Len() > 0 {
		r.calls.WriteString("\n")
	}
	for i, call := range chain[same:] {
		if same+i > 0 {
			call = "  ." + call
		}
		r.calls.WriteString(call + "\n")
	}
	// What only asks is no part of the next chain.
	r.last = chain[:len(chain)-1]
}
