// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/engine/serve/servetest"
)

// A request that announces too much is refused before it is sent.
func TestTooLargeIsSaidAtOnce(t *testing.T) {
	r := start(t, "").up()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n{", int64(requestLimit)+1)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%+v, %v", resp, err)
	}
}

// A client who does not send what it announced is let go, and one who did may
// wait for its answer longer than that.
func TestBodyMustArrive(t *testing.T) {
	const within = 100 * time.Millisecond
	read := make(chan error, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := readBody(w, r, within)
		read <- err
		if err != nil {
			return
		}
		select {
		case <-r.Context().Done(): // what a read deadline left in place does
			read <- r.Context().Err()
		case <-time.After(3 * within):
			read <- nil
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		name, body string
		want       error
	}{{"cut", "{", os.ErrDeadlineExceeded}, {"whole", "{}", nil}} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n%s", c.body)
			if err := <-read; !errors.Is(err, c.want) {
				t.Errorf("reading the body: %v, want %v", err, c.want)
			}
			if c.want == nil {
				if err := <-read; err != nil {
					t.Errorf("while it waited: %v", err)
				}
			}
		})
	}
}

// An empty key in the environment is none: the private port has ours.
func TestEmptyKeyIsNone(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	t.Setenv(servetest.LogVariable, record)
	t.Setenv(keyVariable, "")
	start(t, "").up()
	rec, err := servetest.ReadRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(rec.Env, func(kv string) bool {
		value, ok := strings.CutPrefix(kv, keyVariable+"=")
		return ok && value != ""
	}) {
		t.Error("the backend has no key")
	}
}
