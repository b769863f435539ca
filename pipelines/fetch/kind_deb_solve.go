// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// debSolve asks apt's own solver, in a configuration and state of our own that
// knows an empty disk and the lists which are here, signed as they came. It
// needs no root, no network, and sees nothing of the machine's own packages.
func (e *Engine) debSolve(ctx context.Context, a *debArchive, sources []*debSource, suite string, pocket pins.Pocket, packages []string, arch string) ([]pins.File, error) {
	if len(packages) == 0 {
		return nil, verdict.Failf("no package is named")
	}
	for _, name := range packages {
		if err := checkDebWord("package", name); err != nil {
			return nil, err
		}
	}
	top, err := e.cache("tmp")
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(top, "apt-")
	if err != nil {
		return nil, store.Explain(err, e.CacheDir)
	}
	defer os.RemoveAll(root)
	if err := aptRoot(root, a, sources, arch); err != nil {
		return nil, store.Explain(err, e.CacheDir)
	}
	if _, err := aptGet(ctx, root, "update"); err != nil {
		return nil, verdict.Infraf("apt can not read the lists of %s: %w", suite, err)
	}
	args := []string{"--simulate", "--no-install-recommends", "--assume-yes", "install", "--"}
	for _, name := range packages {
		if pocket == pins.PocketBackports { // apt takes them on demand only
			name += "/" + debSuite(suite, pocket)
		}
		args = append(args, name)
	}
	for _, s := range sources {
		for _, p := range s.packages {
			if p.essential && !slices.Contains(args, p.name) {
				args = append(args, p.name)
			}
		}
	}
	out, err := aptGet(ctx, root, args...)
	if err != nil {
		return nil, verdict.Failf("the packages can not be installed together from %s: %w", debSuite(suite, pocket), err)
	}
	return chosen(out, sources)
}

// installRE is how apt announces a package: Inst name (version origin [arch]).
var installRE = regexp.MustCompile(`^Inst ([^ :]+)(?::[a-z0-9-]+)? (?:\[[^\]]*\] )?\(([^ )]+) [^)]*\[([a-z0-9-]+)\]\)`)

// chosen finds what apt would install in the lists.
func chosen(out string, sources []*debSource) ([]pins.File, error) {
	type id struct{ name, version, arch string }
	known := map[id]debPackage{}
	for _, s := range sources {
		for _, p := range s.packages {
			known[id{p.name, p.version, p.arch}] = p
		}
	}
	var files []pins.File
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "Inst ") {
			continue
		}
		m := installRE.FindStringSubmatch(line)
		if m == nil {
			return nil, verdict.Infraf("apt answers %q, which can not be read", shown(line))
		}
		p, ok := known[id{m[1], m[2], m[3]}]
		if !ok {
			return nil, verdict.Infraf("apt chose %s %s, which no list has", shown(m[1]), shown(m[2]))
		}
		files = append(files, p.locked())
	}
	if len(files) == 0 {
		return nil, verdict.Infraf("apt chose no package")
	}
	slices.SortFunc(files, func(a, b pins.File) int {
		return strings.Compare(a.Name+"\x00"+a.Platform, b.Name+"\x00"+b.Platform)
	})
	return files, nil
}

// aptRoot lays out apt's folders, the lists as a small archive beside them.
func aptRoot(root string, a *debArchive, sources []*debSource, arch string) error {
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial", "etc/preferences.d", "etc/trusted.d", "log"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o755); err != nil {
			return err
		}
	}
	var list strings.Builder
	for i, s := range sources {
		archive := filepath.Join(root, fmt.Sprintf("archive%d", i))
		dir := filepath.Join(archive, "dists", s.release.suite)
		index := filepath.Join(dir, filepath.FromSlash(s.index))
		if err := os.MkdirAll(filepath.Dir(index), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "InRelease"), s.release.signed, 0o644); err != nil {
			return err
		}
		if err := os.Symlink(s.file, index); err != nil {
			return err
		}
		// Age was looked at when the list came; the solver has no clock.
		fmt.Fprintf(&list, "deb [arch=%s signed-by=%s check-valid-until=no by-hash=no] file:%s %s %s\n",
			arch, a.keyring, (&url.URL{Path: archive}).EscapedPath(), s.release.suite, debComponent)
	}
	conf := fmt.Sprintf(`Dir %q;
Dir::State "state"; Dir::State::status "status"; Dir::State::extended_states "extended";
Dir::Cache "cache"; Dir::Log "log";
Dir::Etc "etc"; Dir::Etc::main "none"; Dir::Etc::parts "none"; Dir::Etc::sourcelist "sources.list"; Dir::Etc::sourceparts "none";
Dir::Etc::preferences "none"; Dir::Etc::preferencesparts "preferences.d"; Dir::Etc::trusted "none"; Dir::Etc::trustedparts "trusted.d";
APT::Architecture %q; APT::Architectures { %q; };
APT::Install-Recommends "false"; APT::Install-Suggests "false";
APT::Sandbox::User ""; Acquire::Languages "none"; Acquire::AllowInsecureRepositories "false";
APT::Update::Error-Mode "any"; Debug::NoLocking "true"; APT::Color "false"; Dpkg::Use-Pty "false";
`, root, arch, arch)
	for name, text := range map[string]string{"etc/sources.list": list.String(), "apt.conf": conf, "status": "", "extended": ""} {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// aptGet runs apt-get in root and returns what it prints.
func aptGet(ctx context.Context, root string, args ...string) (string, error) {
	res, err := run.Command{
		Path:    "apt-get",
		Args:    append([]string{"--quiet=1"}, args...),
		Dir:     root,
		Env:     []string{"APT_CONFIG=" + filepath.Join(root, "apt.conf"), "LC_ALL=C", "PATH=" + os.Getenv("PATH"), "HOME=" + root, "TMPDIR=" + root, "DEBIAN_FRONTEND=noninteractive"},
		Timeout: 5 * time.Minute,
	}.Run(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return "", verdict.Infraf("the program apt-get is missing, and Debian packages are chosen by it: run this on Debian, or in a container of it")
	}
	var exit *run.ExitError
	if errors.As(err, &exit) && !exit.TimedOut {
		return "", errors.New(aptReason(string(res.Stdout), exit))
	}
	return string(res.Stdout), err
}

// aptReason makes one line of what apt complains about.
func aptReason(stdout string, exit *run.ExitError) string {
	var why []string
	for line := range strings.Lines(stdout + "\n" + exit.Stderr) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "E: "); ok {
			why = append(why, rest)
		} else if strings.Contains(line, " : Depends: ") || strings.HasPrefix(line, "Depends: ") || strings.Contains(line, " : Conflicts: ") {
			why = append(why, line)
		}
	}
	if len(why) == 0 {
		return shown(exit.Error())
	}
	return shown(strings.Join(why, "; "))
}
