// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A signer signs as an archive does, with a key made for this run.
type signer struct {
	home, keyring string
	err           error
}

var makeSigner = sync.OnceValue(func() *signer {
	home, err := os.MkdirTemp("", "gpg-") // short: the agent's socket is in it
	s := &signer{home: home, keyring: filepath.Join(home, "archive.gpg"), err: err}
	if err != nil {
		return s
	}
	if _, s.err = s.gpg(nil, "--quick-generate-key", "Archive <archive@example.com>", "ed25519", "sign", "never"); s.err != nil {
		return s
	}
	key, err := s.gpg(nil, "--export")
	if err == nil {
		err = os.WriteFile(s.keyring, key, 0o644)
	}
	s.err = err
	return s
})

func TestMain(m *testing.M) {
	code := m.Run()
	if s := makeSigner; gpgUsed {
		one := s()
		run.Command{Path: "gpgconf", Args: []string{"--kill", "all"}, Env: one.env(), Timeout: time.Minute}.Run(context.Background())
		os.RemoveAll(one.home)
	}
	os.Exit(code)
}

// gpgUsed says that there is an agent to end.
var gpgUsed bool

func (s *signer) env() []string {
	return []string{"GNUPGHOME=" + s.home, "HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
}

func (s *signer) gpg(in []byte, args ...string) ([]byte, error) {
	res, err := run.Command{Path: "gpg", Args: append([]string{"--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback", "--passphrase", ""}, args...),
		Env: s.env(), Stdin: bytes.NewReader(in), Timeout: time.Minute}.Run(context.Background())
	return res.Stdout, err
}

// A debWorld is a small signed archive behind the mirrors file's debian entry.
type debWorld struct {
	t *testing.T
	*site
	*signer
	e *Engine
}

// base is a suite in which "tool" needs a library, and the library an essential
// package's feature that nothing declares.
const base = `Package: base
Version: 1-1
Architecture: all
Essential: yes

Package: libtool1
Version: 2.0-1
Architecture: amd64

Package: tool
Version: 2.0-1
Architecture: amd64
Depends: libtool1 (>= 2.0), virtual-thing
Recommends: extra

Package: thing
Version: 1.0
Architecture: all
Provides: virtual-thing

Package: extra
Version: 9
Architecture: all

Package: broken
Version: 1
Architecture: all
Depends: not-there
`

func newDebWorld(t *testing.T) *debWorld {
	t.Helper()
	for _, name := range []string{"gpg", "gpgv", "apt-get"} {
		parts.Need(t, name)
	}
	gpgUsed = true
	s := makeSigner()
	if s.err != nil {
		t.Fatal(s.err)
	}
	w := &debWorld{t: t, site: newSite(t), signer: s}
	w.e = newKinds(t, w.site)
	w.e.Mirrors.Debian = w.URL + "/debian"
	w.e.debKeyring = s.keyring
	w.suite("/debian", "stable", base, "Version: 12.1\nDate: Sat, 10 Oct 2026 10:00:00 UTC\n")
	return w
}

// suite publishes one below archive, each package's file with it.
func (w *debWorld) suite(archive, name, packages, head string) {
	w.t.Helper()
	text := head + "Codename: " + name + "\nArchitectures: all amd64\nComponents: main\nAcquire-By-Hash: yes\nSHA256:\n" + w.packages(archive, name, packages)
	signed, err := w.gpg([]byte(text), "--clearsign")
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(archive+"/dists/"+name+"/InRelease", string(signed))
}

// packages publishes the list and returns its line for the Release.
func (w *debWorld) packages(archive, suite, packages string) string {
	pool := "pool/main/"
	if strings.HasSuffix(archive, "-security") {
		pool = "pool/updates/main/"
	}
	var list strings.Builder
	for _, s := range stanzas(strings.NewReader(packages)) {
		content := "deb of " + s["Package"] + " " + s["Version"]
		path := pool + s["Package"] + "_" + s["Version"] + ".deb"
		w.put(archive+"/"+path, content)
		for _, k := range []string{"Package", "Version", "Architecture", "Essential", "Depends", "Recommends", "Provides"} {
			if s[k] != "" {
				fmt.Fprintf(&list, "%s: %s\n", k, s[k])
			}
		}
		fmt.Fprintf(&list, "Filename: %s\nSize: %d\nSHA256: %s\n\n", path, len(content), sha(content))
	}
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte(list.String()))
	z.Close()
	w.put(archive+"/dists/"+suite+"/main/binary-amd64/by-hash/SHA256/"+sha(gz.String()), gz.String())
	return fmt.Sprintf(" %s %d main/binary-amd64/Packages.gz\n %s %d main/binary-amd64/Packages\n", sha(gz.String()), gz.Len(), sha(list.String()), list.Len())
}

func debPin(packages ...string) *pins.Pin {
	return &pins.Pin{Name: "debs", Track: pins.Track{Kind: pins.Deb, Suite: "stable", Pocket: pins.PocketRelease, Platform: "linux-amd64", Packages: packages}}
}

func names(files []pins.File) string {
	var out []string
	for _, f := range files {
		out = append(out, f.Name+"="+f.Version)
	}
	return strings.Join(out, " ")
}

func TestDebClosure(t *testing.T) {
	w := newDebWorld(t)
	p := debPin("tool")
	entries := locked(t, w.e, p)
	if got := names(p.Lock.Files); got != "base=1-1 libtool1=2.0-1 thing=1.0 tool=2.0-1" || len(entries) != 4 {
		t.Errorf("%s", got)
	}
	f := p.Lock.Files[3]
	if p.Lock.Version != "12.1" || f.Platform != "amd64" || f.Path != "pool/main/tool_2.0-1.deb" || f.URL != "" || f.SHA256 != sha("deb of tool 2.0-1") {
		t.Errorf("%+v", p.Lock)
	}
	named, err := w.e.NamedDeb(t.Context(), "stable", pins.PocketRelease, []string{"tool"}, "amd64")
	if err != nil || names(named) != "tool=2.0-1" {
		t.Errorf("named: %s, %v", names(named), err)
	}
	// A point release without other versions of these is no bump.
	w.suite("/debian", "stable", base, "Version: 12.2\nDate: Sat, 17 Oct 2026 10:00:00 UTC\n")
	l, err := update(t, w.e, p)
	if err != nil || l.Version != "12.1" {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestDebPockets(t *testing.T) {
	w := newDebWorld(t)
	fixed := "Package: libtool1\nVersion: 2.0-1+deb12u1\nArchitecture: amd64\n"
	w.suite("/debian-security", "stable-security", fixed, "Date: Sat, 31 Oct 2026 02:53:00 UTC\nValid-Until: Sat, 07 Nov 2026 02:53:00 UTC\n")
	w.suite("/debian", "stable-backports", "Package: tool\nVersion: 3.0-1~bpo1\nArchitecture: amd64\n\n"+strings.ReplaceAll(fixed, "2.0-1+deb12u1", "9"), "NotAutomatic: yes\nButAutomaticUpgrades: yes\nDate: Sat, 31 Oct 2026 02:53:00 UTC\n")
	p := debPin("tool")
	p.Track.Pocket = pins.PocketSecurity
	locked(t, w.e, p)
	if got := names(p.Lock.Files); got != "base=1-1 libtool1=2.0-1+deb12u1 thing=1.0 tool=2.0-1" || p.Lock.Version != "20261031T025300Z" {
		t.Errorf("%s %s", got, p.Lock.Version)
	}
	files, err := w.e.SolveDeb(t.Context(), "stable", pins.PocketBackports, []string{"tool"}, "amd64")
	if err != nil || names(files) != "base=1-1 tool=3.0-1~bpo1" {
		t.Errorf("%s, %v", names(files), err)
	}
	w.e.Clock = clock.Fixed(noon.AddDate(0, 0, 7))
	_, err = update(t, w.e, p)
	wantError(t, err, verdict.Infra, "valid until 2026-11-07")
}

func TestDebBadAnswers(t *testing.T) {
	const inRelease = "/debian/dists/stable/InRelease"
	tests := []struct {
		name  string
		spoil func(*debWorld)
		pkg   string
		want  verdict.Verdict
		words []string
	}{
		{"changed on the way", func(w *debWorld) { w.put(inRelease, strings.Replace(w.files[inRelease], "12.1", "12.9", 1)) }, "tool", verdict.Fail, []string{"signature is bad"}},
		{"unsigned", func(w *debWorld) { w.put(inRelease, "Codename: stable\nDate: x\n") }, "tool", verdict.Fail, []string{"no signature"}},
		{"unknown key", func(w *debWorld) {
			other := filepath.Join(w.t.TempDir(), "other.gpg")
			os.WriteFile(other, nil, 0o644)
			w.e.debKeyring = other
		}, "tool", verdict.Fail, []string{"other.gpg"}},
		{"another suite", func(w *debWorld) {
			w.suite("/debian", "old", base, "Date: Sat, 10 Oct 2026 10:00:00 UTC\n")
			w.put(inRelease, w.files["/debian/dists/old/InRelease"])
		}, "tool", verdict.Fail, []string{"old", "stable was asked for"}},
		{"no suite", func(w *debWorld) { delete(w.files, inRelease) }, "tool", verdict.Fail, []string{"no suite stable"}},
		{"other list", func(w *debWorld) {
			for path := range w.files {
				if strings.Contains(path, "by-hash") {
					w.put(path, "other")
				}
			}
		}, "tool", verdict.Fail, []string{"the packages of stable"}},
		{"unknown package", func(*debWorld) {}, "nonesuch", verdict.Fail, []string{"nonesuch"}},
		{"needs what is not there", func(*debWorld) {}, "broken", verdict.Fail, []string{"not-there"}},
		{"package like an option", func(*debWorld) {}, "-o=Dir::State=x", verdict.Fail, []string{"no name"}},
		{"other file", func(w *debWorld) { w.put("/debian/pool/main/tool_2.0-1.deb", "deb of evil 2.0-1") }, "tool", verdict.Fail, []string{sha("deb of evil 2.0-1")}},
		{"file gone", func(w *debWorld) { delete(w.files, "/debian/pool/main/tool_2.0-1.deb") }, "tool", verdict.Fail, []string{"404"}},
		{"path that leaves", func(w *debWorld) {
			w.suite("/debian", "stable", "Package: ../../etc\nVersion: 1\nArchitecture: all\n", "Date: Sat, 10 Oct 2026 10:00:00 UTC\n")
		}, "tool", verdict.Fail, []string{"has the name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newDebWorld(t)
			tt.spoil(w)
			_, err := update(t, w.e, debPin(tt.pkg))
			wantError(t, err, tt.want, tt.words...)
			if left, _ := filepath.Glob(filepath.Join(w.e.CacheDir, "tmp", "*")); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// A version that left the pool is a sentence, and what is in the store is not
// asked for.
func TestDebFetchGone(t *testing.T) {
	w := newDebWorld(t)
	p := debPin("tool")
	locked(t, w.e, p)
	delete(w.files, "/debian/pool/main/tool_2.0-1.deb")
	if n := fetchedOffline(t, w.e, p); n != 4 {
		t.Errorf("%d entries", n)
	}
	key, _ := store.KeyOf("sha256:" + p.Lock.Files[3].SHA256)
	if err := w.e.Store.Remove(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	_, err := debKind{}.fetch(t.Context(), w.e, p)
	var gone *httpget.NotFound
	wantError(t, err, verdict.Infra, "that version no more", "dist pins update debs")
	if !errors.As(err, &gone) {
		t.Errorf("%v", err)
	}
}

func TestGpgvMissing(t *testing.T) {
	w := newDebWorld(t)
	t.Setenv("PATH", t.TempDir())
	_, err := debKind{}.newest(t.Context(), w.e, debPin("tool"))
	wantError(t, err, verdict.Infra, "install the Debian package gpgv")
}

func TestAptSources(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "sources.list.d"), 0o777)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := aptArchives(dir); verdict.Of(err) != verdict.Infra {
		t.Errorf("without any: %v", err)
	}
	write("sources.list", "# deb http://no.example/debian x main\ndeb-src http://src.example/debian x main\ndeb [arch=amd64 signed-by=/k] http://one.example/debian bookworm main # local\n")
	write("sources.list.d/a.sources", "Types: deb\nURIs: https://off.example/debian-security\nSuites: x\nEnabled: no\n\n# comment\nTypes: deb deb-src\nURIs: https://u:secret@p.example/debian-security\n https://sec.example/debian-security/\nSuites: x-security\n")
	main, security, err := aptArchives(dir)
	if main != "http://one.example/debian" || security != "https://sec.example/debian-security" || err != nil {
		t.Errorf("%q %q %v", main, security, err)
	}
}

func TestParsePackagesRefuses(t *testing.T) {
	good := "Package: a\nVersion: 1\nArchitecture: all\nFilename: pool/a.deb\nSize: 1\nSHA256: " + sha("a") + "\n"
	if all, err := parsePackages(strings.NewReader(good + "\n" + good)); err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, r := range [][2]string{
		{"Package: a", "Package: A b"}, {"Version: 1", "Version: 1/../2"}, {"Architecture: all", "Architecture: -x"},
		{"pool/a.deb", "../a.deb"}, {"pool/a.deb", "/a.deb"}, {"Size: 1", "Size: x"}, {sha("a"), "abc"},
	} {
		if _, err := parsePackages(strings.NewReader(strings.Replace(good, r[0], r[1], 1))); err == nil {
			t.Errorf("%q is taken", r[1])
		}
	}
}

// The real archive, by apt's own configuration; it needs the network.
func TestRealDebianArchive(t *testing.T) {
	keyring := parts.Need(t, "debian-archive")
	e := newKinds(t, newSite(t))
	e.Clock, e.debKeyring = clock.System, keyring.Path
	e.HTTP, _ = httpget.New(httpget.WithAllowHTTP())
	files, err := e.SolveDeb(t.Context(), "bookworm", pins.PocketRelease, []string{"gcc", "g++", "cmake", "ninja-build"}, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gcc", "g++", "cmake", "ninja-build", "libc6", "dash"} {
		if !slices.ContainsFunc(files, func(f pins.File) bool { return f.Name == want }) {
			t.Errorf("%s is not among the %d", want, len(files))
		}
	}
}

// Other packages may be named, or needed, without a new point release: whether
// a lock is still right is known after solving only.
func TestDebIsNeverCurrentUnsolved(t *testing.T) {
	p := debPin("tool")
	p.Lock = &pins.Lock{Version: "12.15", Files: []pins.File{{Name: "tool", SHA256: strings.Repeat("0", 64)}}}
	if p.State() != pins.Verified {
		t.Fatalf("the pin is %s", p.State())
	}
	if current(p, &Candidate{Version: "12.15"}) {
		t.Error("a lock of packages is taken for current by its version")
	}
}
