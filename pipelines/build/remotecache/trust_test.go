// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// signerOf returns a signer whose key follows from a name, with its file and
// what a trust file says of it.
func signerOf(t *testing.T, name string) (s *Signer, file, public string) {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	key := ed25519.NewKeyFromSeed(seed[:])
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = LoadSigner(file); err != nil {
		t.Fatal(err)
	}
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return s, file, base64.StdEncoding.EncodeToString(der)
}

// trustIn returns a trust file with keys, each as lines after its name.
func trustIn(t *testing.T, keys ...string) *Trust {
	t.Helper()
	trust, err := parseTrust([]byte("keys:\n"+strings.Join(keys, "")), "cache.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

func keyLines(name, public, from, to, revoked string) string {
	s := fmt.Sprintf("  - name: %s\n    key: %s\n    from: %s\n    to: %s\n", name, public, from, to)
	if revoked != "" {
		s += "    revoked: {on: 2026-11-01, why: " + revoked + "}\n"
	}
	return s
}

// planted is an entry as somebody who may write to a registry can make one.
type planted struct {
	record  Record
	archive []byte
	signers []*Signer
	sealed  []byte // in the place of an envelope
}

// plant puts the real entry of the component demo into a hub after change.
func plant(t *testing.T, h *hub, change func(*planted)) {
	t.Helper()
	dir := t.TempDir()
	if err := makeOutput(dir, "made\n"); err != nil {
		t.Fatal(err)
	}
	sum, err := treesum.FromFolder(dir, treesum.FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := component(t, "demo", build.Sandboxed)
	p := &planted{record: Record{Schema: 1, Key: c.Key, Recipe: "demo", Sum: sum.Sum, Files: sum.Files, Size: sum.Bytes}}
	p.archive = packed(t, demoEntries()...)
	change(p)
	if p.record.Archive.Digest == "" {
		p.record.Archive = Archive{Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(p.archive)), Size: int64(len(p.archive))}
	}
	if p.sealed == nil {
		payload, err := json.Marshal(p.record)
		if err != nil {
			t.Fatal(err)
		}
		e := dsse.Envelope{PayloadType: RecordType, Payload: base64.StdEncoding.EncodeToString(payload), Signatures: []dsse.Signature{}}
		for _, s := range p.signers {
			e.Signatures = append(e.Signatures, s.sign(payload))
		}
		if p.sealed, err = json.Marshal(e); err != nil {
			t.Fatal(err)
		}
	}
	repo := h.address(t).repo
	config, content := static.NewLayer(p.sealed, envelopeType), static.NewLayer(p.archive, contentType)
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: ArtifactType}
	for i, l := range []v1.Layer{config, content} {
		if err := remote.WriteLayer(repo, l); err != nil {
			t.Fatal(err)
		}
		digest, _ := l.Digest()
		size, _ := l.Size()
		mediaType, _ := l.MediaType()
		if d := (v1.Descriptor{MediaType: mediaType, Size: size, Digest: digest}); i == 0 {
			m.Config = d
		} else {
			m.Layers = []v1.Descriptor{d}
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Put(repo.Tag(string(c.Key)), manifest(raw)); err != nil {
		t.Fatal(err)
	}
}

// item is an entry of an archive.
type item struct {
	tar.Header
	content io.Reader
}

func regular(name, text string, mode int64) item {
	return item{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text))}, strings.NewReader(text)}
}

func demoEntries() []item {
	return []item{
		regular("bin/run", "#!/bin/sh\nmade\n", 0o755),
		regular("lib/a.so.1", strings.Repeat("made\n", 20_000), 0o644),
		{tar.Header{Typeflag: tar.TypeSymlink, Name: "lib/a.so", Linkname: "a.so.1"}, nil},
	}
}

func packed(t *testing.T, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, i := range items {
		if err := w.WriteHeader(&i.Header); err != nil {
			t.Fatal(err)
		}
		if i.content != nil {
			if _, err := io.Copy(w, i.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Whatever somebody puts under the right key, with all digests right, a store
// gets the files of the record or none.
func TestHostileEntryIsAMiss(t *testing.T) {
	bomb := func() item {
		return item{tar.Header{Typeflag: tar.TypeReg, Name: "bin/run", Mode: 0o755, Size: 128 << 20}, io.LimitReader(zeros{}, 128<<20)}
	}
	for _, c := range []struct {
		name   string
		change func(*planted, *testing.T)
		warn   string
	}{
		{"nothing changed", func(*planted, *testing.T) {}, ""},
		{"other content", func(p *planted, t *testing.T) {
			p.archive = packed(t, append(demoEntries()[1:], regular("bin/run", "#!/bin/sh\nevil\n", 0o755))...)
		}, "its 3 files have the sum t1:"},
		{"another mode", func(p *planted, t *testing.T) {
			p.archive = packed(t, append(demoEntries()[1:], regular("bin/run", "#!/bin/sh\nmade\n", 0o644))...)
		}, "its 3 files have the sum t1:"},
		{"a file more", func(p *planted, t *testing.T) {
			p.archive = packed(t, append(demoEntries(), regular("lib/b", "", 0o644))...)
		}, "its 4 files"},
		{"a file less", func(p *planted, t *testing.T) { p.archive = packed(t, demoEntries()[:2]...) }, "its 2 files"},
		{"no files", func(p *planted, t *testing.T) { p.archive = packed(t) }, "its 0 files"},
		{"another number in the record", func(p *planted, _ *testing.T) { p.record.Files++ }, "its 3 files"},
		{"another size in the record", func(p *planted, _ *testing.T) { p.record.Size++ }, "its 3 files"},
		{"a file above the folder", func(p *planted, t *testing.T) { p.archive = packed(t, regular("../../evil", "x", 0o644)) }, `has ".." in its name`},
		{"an absolute name", func(p *planted, t *testing.T) { p.archive = packed(t, regular("/tmp/evil", "x", 0o644)) }, "has an absolute name"},
		{"a link out of the folder", func(p *planted, t *testing.T) {
			p.archive = packed(t, item{tar.Header{Typeflag: tar.TypeSymlink, Name: "lib", Linkname: "../../.."}, nil}, regular("lib/evil", "x", 0o644))
		}, "archive refused"},
		{"a device", func(p *planted, t *testing.T) {
			p.archive = packed(t, item{tar.Header{Typeflag: tar.TypeChar, Name: "bin/run", Devmajor: 1, Devminor: 3}, nil})
		}, "is a device"},
		{"a bomb", func(p *planted, t *testing.T) { p.archive = packed(t, bomb()) }, "archive refused"},
		{"a bomb that its record admits", func(p *planted, t *testing.T) { p.archive, p.record.Size = packed(t, bomb()), 128<<20 }, "unpacks to more than 250 times its size"},
		{"more entries than files", func(p *planted, t *testing.T) {
			var items []item
			for i := range 500 {
				items = append(items, regular(fmt.Sprint("f", i), "", 0o644))
			}
			p.archive = packed(t, items...)
		}, "archive refused"},
		{"no archive", func(p *planted, _ *testing.T) { p.archive = []byte("hello") }, "its archive cannot be read"},
		{"an archive cut short", func(p *planted, _ *testing.T) { p.archive = p.archive[:len(p.archive)-8] }, "its archive cannot be read"},
		{"the record of another key", func(p *planted, _ *testing.T) { p.record.Key = "in-" + p.record.Key[3:9] }, "its record is that of another key"},
		{"the record of another component", func(p *planted, _ *testing.T) { p.record.Recipe = "other" }, "its record is that of another component"},
		{"the record of another archive", func(p *planted, _ *testing.T) {
			p.record.Archive = Archive{Digest: "sha256:" + strings.Repeat("0", 64), Size: int64(len(p.archive))}
		}, "its record is that of another archive"},
		{"a record without a sum", func(p *planted, _ *testing.T) { p.record.Sum = "t1:" }, "its record has no sum"},
		{"a record of a later program", func(p *planted, _ *testing.T) { p.record.Schema = 2 }, "has the schema 2"},
		{"a record of negative size", func(p *planted, _ *testing.T) { p.record.Size = -1 }, "a size beyond the limits"},
		{"a record of too many files", func(p *planted, _ *testing.T) { p.record.Files = maxFiles + 1 }, "a size beyond the limits"},
		{"an envelope that is none", func(p *planted, _ *testing.T) { p.sealed = []byte("[]") }, "its envelope cannot be read"},
		{"an envelope of something else", func(p *planted, _ *testing.T) {
			p.sealed = []byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[]}`)
		}, "its envelope is none of a record"},
		{"an output that the recipe does not name", func(p *planted, t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "other"), []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			sum, err := treesum.FromFolder(dir, treesum.FolderOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p.record.Sum, p.record.Files, p.record.Size = sum.Sum, 1, 1
			p.archive = packed(t, regular("other", "x", 0o644))
		}, "did not make bin/run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t)
			plant(t, h, func(p *planted) { c.change(p, t) })
			m := newMachine(t, h.address(t))
			made := m.make(t, "demo")
			if hit := c.warn == ""; (made.From != "") != hit || m.runs.Load() == 1 == hit {
				t.Errorf("got %+v, %d runs", made, m.runs.Load())
			}
			m.warned(t, c.warn)
			if data, err := os.ReadFile(filepath.Join(made.Path, "bin", "run")); string(data) != "#!/bin/sh\nmade\n" {
				t.Errorf("it holds %q, %v", data, err)
			}
		})
	}
}

// Where a trust file is, only what its keys signed and are good for is taken.
func TestSignaturesAreRequired(t *testing.T) {
	ours, _, public := signerOf(t, "builder")
	other, _, _ := signerOf(t, "somebody")
	second, _, public2 := signerOf(t, "second")
	good := keyLines("builder", public, "2026-11-01", "2027-01-01", "")
	for _, c := range []struct {
		name    string
		trust   *Trust
		signers []*Signer
		forge   func(*planted)
		warn    string
	}{
		{"signed", trustIn(t, good), []*Signer{ours}, nil, ""},
		{"signed by two", trustIn(t, good), []*Signer{other, ours}, nil, ""},
		{"unsigned", trustIn(t, good), nil, nil, "it is not signed"},
		{"by another key", trustIn(t, good), []*Signer{other}, nil, "no key of the trust file signed it"},
		{"by another key under our name", trustIn(t, good), []*Signer{{other.key, ours.id}}, nil, "its signature is none of the key builder"},
		{"expired", trustIn(t, keyLines("builder", public, "2025-11-01", "2026-11-30", "")), []*Signer{ours}, nil, "the key builder was valid until 2026-11-30"},
		{"not valid yet", trustIn(t, keyLines("builder", public, "2026-12-01", "2027-11-30", "")), []*Signer{ours}, nil, "the key builder is valid from 2026-12-01 on"},
		{"revoked", trustIn(t, keyLines("builder", public, "2026-11-01", "2027-01-01", "a lost laptop")), []*Signer{ours}, nil, "the key builder was revoked on 2026-11-01 (a lost laptop)"},
		{"revoked, and by another that is good", trustIn(t, keyLines("builder", public, "2026-11-01", "2027-01-01", "lost"), keyLines("second", public2, "2026-11-01", "2027-01-01", "")), []*Signer{ours, second}, nil, ""},
		{"signed, then changed", trustIn(t, good), nil, func(p *planted) {
			sealed, err := seal(&p.record, ours)
			if err != nil {
				t.Fatal(err)
			}
			var e dsse.Envelope
			if err := json.Unmarshal(sealed, &e); err != nil {
				t.Fatal(err)
			}
			p.record.Recipe = "evil"
			payload, _ := json.Marshal(p.record)
			e.Payload = base64.StdEncoding.EncodeToString(payload)
			p.sealed, _ = json.Marshal(e)
		}, "its signature is none of the key builder"},
		{"without a trust file", nil, nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t)
			plant(t, h, func(p *planted) {
				if p.signers = c.signers; c.forge != nil {
					c.forge(p)
				}
			})
			m := newMachine(t, h.address(t), trusting(c.trust))
			if made := m.make(t, "demo"); (made.From != "") != (c.warn == "") {
				t.Errorf("got %+v", made)
			}
			m.warned(t, c.warn)
		})
	}
}

// What one machine signs another takes; an unsigned entry in the way is
// replaced, and a signed one is not pushed again.
func TestSignedPush(t *testing.T) {
	s, _, public := signerOf(t, "builder")
	trust := trustIn(t, keyLines("builder", public, "2026-11-01", "2027-01-01", ""))
	h := newHub(t)
	newMachine(t, h.address(t), pushing).make(t, "demo")
	a := newMachine(t, h.address(t), pushing, trusting(trust), signing(s))
	a.make(t, "demo")
	a.warned(t, "it is not signed")
	if made := newMachine(t, h.address(t), trusting(trust)).make(t, "demo"); made.From == "" {
		t.Error("it is not taken")
	}
	n := 0
	h.fail(writes(&n))
	if a.make(t, "demo"); n > 0 {
		t.Errorf("%d requests changed something", n)
	}
}

func TestPushWhereSignaturesAreRequired(t *testing.T) {
	s, _, public := signerOf(t, "builder")
	other, _, _ := signerOf(t, "somebody")
	for name, c := range map[string]struct {
		lines  string
		signer *Signer
		say    string
	}{
		"no key":        {keyLines("builder", public, "2020-01-01", "2100-01-01", ""), nil, "name the file of a key"},
		"another key":   {keyLines("builder", public, "2020-01-01", "2100-01-01", ""), other, "does not name the key"},
		"a revoked key": {keyLines("builder", public, "2020-01-01", "2100-01-01", "lost"), s, "was revoked"},
	} {
		_, err := New(Options{Trust: trustIn(t, c.lines), Signer: c.signer, Push: true, Workspace: func() (string, func(), error) { return "", nil, nil }})
		if verdict.ExitCode(err) != verdict.ExitUsage || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTrustFile(t *testing.T) {
	_, _, public := signerOf(t, "builder")
	rsa := "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAL"
	for name, c := range map[string]struct{ text, say string }{
		"no keys":       {"keys: []\n", "names no key"},
		"empty":         {"", "names no key"},
		"no YAML":       {"keys: [", "cache.yaml"},
		"unknown field": {"keys:\n  - nme: x\n", "nme"},
		"no list":       {"keys: {}\n", "cache.yaml: line 1: cannot unmarshal !!map: see"},
		"two documents": {"keys:\n" + keyLines("a", public, "2026-01-01", "2027-01-01", "") + "---\nkeys: []\n", "more than one document"},
		"revoked when?": {"keys:\n" + keyLines("a", public, "2026-01-01", "2027-01-01", "") + "    revoked: {on: soon, why: sold}\n", `revoked: on: "soon" is no day`},
		"revoked, but":  {"keys:\n" + keyLines("a", public, "2026-01-01", "2027-01-01", "") + "    revoked:\n", "says on which day and why"},
		"merged":        {"keys:\n" + keyLines("a", public, "2026-01-01", "2027-01-01", "") + "    <<: {revoked: }\n", "says on which day and why"},
		"no such day":   {"keys:\n" + keyLines("builder", public, "2026-13-01", "2027-01-01", ""), `cache.yaml:2: key "builder": from: "2026-13-01" is no day`},
		"backwards":     {"keys:\n" + keyLines("builder", public, "2027-01-01", "2026-01-01", ""), "it ends before it begins"},
		"another key":   {"keys:\n" + keyLines("builder", rsa, "2026-01-01", "2027-01-01", ""), "it is no ed25519 key"},
		"twice":         {"keys:\n" + keyLines("a", public, "2026-01-01", "2027-01-01", "") + keyLines("b", public, "2026-01-01", "2027-01-01", ""), `cache.yaml:6: key "b": it is the key of "a" too`},
		"no reason":     {"keys:\n" + keyLines("a", public, "2026-01-01", "2027-01-01", "") + "    revoked: {on: 2026-02-01}\n", "says on which day and why"},
	} {
		path := filepath.Join(t.TempDir(), "cache.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTrust(path); verdict.ExitCode(err) != verdict.ExitUsage || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "struct") || strings.Contains(err.Error(), "remotecache") {
			t.Errorf("%s: it speaks of our types: %v", name, err)
		}
	}
	two := "keys:\n" + keyLines("", "x", "2026-01-01", "2027-01-01", "") + keyLines("b", "x", "x", "2027-01-01", "")
	if _, err := parseTrust([]byte(two), "f"); err == nil || strings.Count(err.Error(), "\n") < 3 {
		t.Errorf("not all at once: %v", err)
	}
}

func TestSignerFile(t *testing.T) {
	const secret = "c2VjcmV0IG1hdGVyaWFs"
	for name, text := range map[string]string{
		"no PEM":      secret,
		"another PEM": "-----BEGIN PUBLIC KEY-----\n" + secret + "\n-----END PUBLIC KEY-----\n",
		"nonsense":    "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n",
	} {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadSigner(path)
		if verdict.ExitCode(err) != verdict.ExitUsage || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "openssl genpkey") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := LoadSigner(filepath.Join(t.TempDir(), "absent")); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("an absent file: %v", err)
	}
}

// A file without an end is not read until there is no memory left.
func TestKeyFilesEnd(t *testing.T) {
	for name, load := range map[string]func(string) error{
		"trust":  func(path string) error { _, err := LoadTrust(path); return err },
		"signer": func(path string) error { _, err := LoadSigner(path); return err },
	} {
		if err := load("/dev/zero"); verdict.ExitCode(err) != verdict.ExitUsage || !strings.Contains(err.Error(), "/dev/zero") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for s, want := range map[string]string{
		"oci://registry.example.com/1bit/outputs":              "oci://registry.example.com/1bit/outputs",
		"oci://registry.example.com:5000/1bit/?plain-http=yes": "oci://registry.example.com:5000/1bit?plain-http=yes",
		"oci://127.0.0.1:5000/a":                               "oci://127.0.0.1:5000/a",
		"oci://registry.example.com/1bit?plain-http=no":        "oci://registry.example.com/1bit",
		"":                                              "",
		"registry.example.com/1bit":                     "",
		"https://registry.example.com/1bit":             "",
		"oci:registry.example.com/1bit":                 "",
		"oci://registry.example.com":                    "",
		"oci://registry.example.com/":                   "",
		"oci:///1bit":                                   "",
		"oci://registry.example.com/1bit:tag":           "",
		"oci://registry.example.com/1bit@sha256:0":      "",
		"oci://registry.example.com/UPPER":              "",
		"oci://registry.example.com/a?x=1":              "",
		"oci://registry.example.com/a?plain-http=maybe": "",
		"oci://user:hunter2@registry.example.com/a":     "",
		"oci://user:hunter2@registry.example.com/%zz":   "",
		"oci://registry.example.com/user:hunter2@a":     "",
		"oci://registry.example.com/hunter2/../A":       "",
		"oci://hunter2/../a":                            "",
		"oci://registry.example.com:99999/a":            "",
		"oci://registry.example.com:0/a":                "",
	} {
		a, err := ParseAddress(s)
		if want == "" {
			if verdict.ExitCode(err) != verdict.ExitUsage || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", s, err)
			}
			continue
		}
		if err != nil || a.String() != want {
			t.Errorf("%s: %v, %v", s, a, err)
		}
	}
}

func TestPlainHTTPIsForThisMachineOnly(t *testing.T) {
	for _, c := range []struct {
		address, url string
		plain        bool
	}{
		{"oci://127.0.0.1:5000/a", "http://127.0.0.1:5000/v2/", true},
		{"oci://localhost:5000/a", "http://localhost:5000/v2/", true},
		{"oci://[::1]:5000/a", "http://[::1]:5000/v2/", true},
		{"oci://127.0.0.1:5000/a", "http://registry.example.com/v2/", false},
		{"oci://10.0.0.1:5000/a", "http://10.0.0.1:5000/v2/", false},
		{"oci://registry.example.com/a", "http://registry.example.com/v2/", false},
		{"oci://registry.example.com/a", "http://127.0.0.1/v2/", false},
		{"oci://registry.example.com/a?plain-http=yes", "http://registry.example.com/v2/", true},
		{"oci://registry.example.com/a?plain-http=yes", "http://blobs.example.com/v2/", false},
	} {
		a, err := ParseAddress(c.address)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		g := &guard{limits: &quick, address: a, next: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = true
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
		})}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := g.RoundTrip(r); err == nil {
			resp.Body.Close()
		}
		if asked != c.plain {
			t.Errorf("%s for %s: asked %v, want %v", c.url, c.address, asked, c.plain)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
