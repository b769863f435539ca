// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bufio"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// aptFolder is where apt is configured on every machine that has it.
const aptFolder = "/etc/apt"

// debKeyrings are where distributions keep the keys of Debian's archive.
var debKeyrings = []string{
	"/usr/share/keyrings/debian-archive-keyring.gpg",
	"/usr/share/keyrings/debian-archive-keyring.pgp",
}

// A debArchive is where Debian's packages are read, and the keys that its
// suites are signed with.
type debArchive struct {
	main     string // address, or absolute path of a folder
	security string // of the archive of security updates
	keyring  string
	standsIn string
}

// debArchive returns the archive, with the keys of its suites.
func (e *Engine) debArchive() (*debArchive, error) {
	a, err := e.debPool()
	if err != nil {
		return nil, err
	}
	if e.debKeyring != "" {
		a.keyring = e.debKeyring
		return a, nil
	}
	for _, k := range debKeyrings {
		if _, err := os.Stat(k); err == nil {
			a.keyring = k
			return a, nil
		}
	}
	return nil, verdict.Infraf("the keys of Debian's archive are not on this machine, so its signatures cannot be checked: install the package debian-archive-keyring")
}

// debPool returns the archive without keys, for files whose sums are known: the
// mirrors file's, else the one that apt uses on this machine.
func (e *Engine) debPool() (*debArchive, error) {
	a := &debArchive{}
	if e.Mirrors != nil && e.Mirrors.Debian != "" {
		a.main = strings.TrimSuffix(e.Mirrors.Debian, "/")
		a.security = a.main + "-security"
		return a, nil
	}
	var err error
	a.main, a.security, err = aptArchives(aptFolder)
	return a, err
}

// place is where a path below the archive is read. The address is the user's
// own, and what it gives is checked by signature or sum, so it may be http.
func (a *debArchive) place(suite, path string) Place {
	base := a.main
	if strings.HasSuffix(suite, "-security") || strings.HasPrefix(path, "pool/updates/") {
		base = a.security
	}
	if filepath.IsAbs(base) {
		return Place{URL: filepath.Join(base, filepath.FromSlash(path)), Mapped: true}
	}
	return Place{URL: base + "/" + (&url.URL{Path: path}).EscapedPath(), Mapped: true}
}

// file is how a package is downloaded.
func (a *debArchive) file(f pins.File) download {
	place := a.place("", f.Path)
	return download{name: f.Name + " " + f.Version, place: &place, url: place.URL, expect: httpget.Expect{SHA256: f.SHA256, Size: f.Size}}
}

// An aptSource is one line of apt's configuration.
type aptSource struct {
	uri    string
	suites []string
}

// aptArchives finds Debian's archive in apt's configuration.
func aptArchives(dir string) (main, security string, err error) {
	sources, err := aptSources(dir)
	if err != nil {
		return "", "", verdict.Infraf("apt's configuration cannot be read (%w): name the archive under debian: in the mirrors file", err)
	}
	for _, s := range sources {
		name := strings.TrimSuffix(s.uri, "/")
		name = name[strings.LastIndex(name, "/")+1:]
		switch {
		case name == "debian-security" && security == "":
			security = strings.TrimSuffix(s.uri, "/")
		case name == "debian" && main == "":
			main = strings.TrimSuffix(s.uri, "/")
		}
	}
	if main == "" {
		return "", "", verdict.Infraf("apt on this machine uses no Debian archive: name one under debian: in the mirrors file")
	}
	if security == "" {
		security = main + "-security"
	}
	return main, security, nil
}

// aptSources reads sources.list and sources.list.d in both of their forms.
// Only http and https addresses are returned, without those that carry a
// password.
func aptSources(dir string) ([]aptSource, error) {
	names := []string{filepath.Join(dir, "sources.list")}
	for _, pattern := range []string{"*.list", "*.sources"} {
		more, err := filepath.Glob(filepath.Join(dir, "sources.list.d", pattern))
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	var all []aptSource
	for _, name := range names {
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".sources") {
			all = append(all, aptStanzas(string(data))...)
		} else {
			all = append(all, aptLines(string(data))...)
		}
	}
	return slices.DeleteFunc(all, func(s aptSource) bool {
		u, err := url.Parse(s.uri)
		return err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil
	}), nil
}

// aptLines reads "deb [options] uri suite component…".
func aptLines(text string) (all []aptSource) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		rest = strings.TrimSpace(rest)
		if strings.HasPrefix(rest, "[") {
			if _, rest, ok = strings.Cut(rest, "]"); !ok {
				continue
			}
		}
		if words := strings.Fields(rest); len(words) >= 2 {
			all = append(all, aptSource{uri: words[0], suites: words[1:2]})
		}
	}
	return all
}

// aptStanzas reads the form with a field a line.
func aptStanzas(text string) (all []aptSource) {
	for _, s := range stanzas(strings.NewReader(text)) {
		if strings.EqualFold(s["Enabled"], "no") || !slices.Contains(strings.Fields(s["Types"]), "deb") {
			continue
		}
		for _, uri := range strings.Fields(s["Uris"]) {
			all = append(all, aptSource{uri: uri, suites: strings.Fields(s["Suites"])})
		}
	}
	return all
}

// stanzas reads Debian's control format. Names of fields are in the form
// Name-Name; continued lines keep their line ends.
func stanzas(r interface{ Read([]byte) (int, error) }) []map[string]string {
	var all []map[string]string
	in := bufio.NewScanner(r)
	in.Buffer(nil, 4<<20)
	stanza, last := map[string]string{}, ""
	for in.Scan() {
		line := in.Text()
		switch {
		case strings.TrimSpace(line) == "":
			if len(stanza) > 0 {
				all = append(all, stanza)
			}
			stanza, last = map[string]string{}, ""
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if last != "" {
				stanza[last] += "\n" + strings.TrimSpace(line)
			}
		default:
			name, value, ok := strings.Cut(line, ":")
			if last = ""; ok {
				last = fieldName(name)
				stanza[last] = strings.TrimSpace(value)
			}
		}
	}
	if len(stanza) > 0 {
		all = append(all, stanza)
	}
	return all
}

// fieldName writes a field's name with capital letters after hyphens only.
func fieldName(s string) string {
	b := []byte(strings.ToLower(s))
	for i := range b {
		if (i == 0 || b[i-1] == '-') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}
