// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"reflect"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// What real servers and disks do that a test's own server cannot: the words
// are git's.
func TestExplain(t *testing.T) {
	for _, x := range []struct {
		stderr string
		want   error
		v      verdict.Verdict
	}{
		{"fatal: unable to access 'https://h/x/': Could not resolve host: h\n", &Unreachable{"https://h/x", "Could not resolve host: h"}, verdict.Infra},
		{"fatal: unable to access 'https://h/x/': Proxy CONNECT aborted\nfatal: Received HTTP code 407 from proxy after CONNECT", &ProxyAuth{"https://h/x"}, verdict.Infra},
		{"fatal: unable to access 'https://h/x/': SSL certificate problem: unable to get local issuer certificate", &Unreachable{"https://h/x", "SSL certificate problem: unable to get local issuer certificate"}, verdict.Infra},
		{"Receiving objects:  12% (1/8)\rerror: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)\nfatal: early EOF\n", &Unreachable{"https://h/x", "the answer broke off"}, verdict.Infra},
		{"fatal: could not read Username for 'https://h': terminal prompts disabled\n", &AuthRequired{"https://h/x", false}, verdict.Fail},
		{"remote: Repository not found.\nfatal: repository 'https://h/x/' not found\n", &NotFound{"https://h/x"}, verdict.Fail},
		{"fatal: mismatched algorithms: client sha1; server sha256\n", &ObjectFormat{"https://h/x", "sha256"}, verdict.Fail},
		{"remote: aborting due to possible repository corruption on the remote side.\nfatal: early EOF\n", &Incomplete{"https://h/x"}, verdict.Fail},
	} {
		target := &target{arg: "https://h/x", shown: "https://h/x", transport: "https"}
		err := target.explain(t.Context(), run.Result{Stderr: []byte(x.stderr)}, &run.ExitError{Code: 128})
		if !reflect.DeepEqual(err, x.want) || verdict.Of(err) != x.v {
			t.Errorf("%q:\n got %T %v\nwant %T %v", x.stderr, err, err, x.want, x.want)
		}
	}
	target := &target{shown: "https://h/x"}
	err := target.explain(t.Context(), run.Result{Stderr: []byte("fatal: write error: No space left on device\nfatal: index-pack failed\n")}, &run.ExitError{Code: 128})
	if verdict.Of(err) != verdict.Infra || err.Error() != "fetch from https://h/x: the disk is full: make room and try again" {
		t.Errorf("full disk: %v", err)
	}
}
