// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/unpack"
)

// WriteVendor makes the folder target a vendor folder of Cargo with all crates
// of the lock: <name>-<version>/ with a .cargo-checksum.json each. open gives
// the .crate file of a crate; its sum is checked before anything of it is
// unpacked. Files get mtime. A lock with crates from git is refused, with
// their names. On an error target is not there.
func WriteVendor(ctx context.Context, target string, lock *CargoLock, mtime time.Time, open func(Crate) (io.ReadSeekCloser, error)) error {
	if len(lock.Git) > 0 {
		names := make([]string, len(lock.Git))
		for i, g := range lock.Git {
			names[i] = g.Name + " " + g.Version + " from " + g.URL
		}
		return fmt.Errorf("vendor crates: %s: crates from git can not be in a vendor folder; give them as git inputs", strings.Join(names, ", "))
	}
	if err := sameFolder(lock.Crates); err != nil {
		return err
	}
	return makeFolder(target, mtime, func(dir string) error {
		for _, c := range lock.Crates {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := vendorCrate(ctx, dir, c, open); err != nil {
				return fmt.Errorf("vendor crate %s: %w", c.Folder(), err)
			}
		}
		return nil
	})
}

// sameFolder refuses two crates that would share a folder.
func sameFolder(crates []Crate) error {
	seen := map[string]Crate{}
	for _, c := range crates {
		key := strings.ToLower(c.Folder())
		if other, ok := seen[key]; ok {
			return fmt.Errorf("vendor crates: %s from %s and %s from %s need the same folder", c.Folder(), c.Source, other.Folder(), other.Source)
		}
		seen[key] = c
	}
	return nil
}

func vendorCrate(ctx context.Context, dir string, c Crate, open func(Crate) (io.ReadSeekCloser, error)) error {
	r, err := open(c)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := c.Verify(r); err != nil {
		return err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	folder := filepath.Join(dir, c.Folder())
	if err := unpack.Tar(ctx, r, folder, unpack.StripPrefix(c.Folder()+"/"), unpack.MaxBytes(2<<30), unpack.MaxEntries(200000)); err != nil {
		return err
	}
	sums := map[string]string{}
	err = filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%q is no file; crates have none", filepath.Base(p))
		}
		rel, err := filepath.Rel(folder, p)
		if err != nil {
			return err
		}
		sum, err := sumFile(p)
		sums[filepath.ToSlash(rel)] = sum
		return err
	})
	if err != nil {
		return err
	}
	delete(sums, ".cargo-checksum.json") // a crate must not bring its own
	delete(sums, ".cargo-ok")
	text, err := json.Marshal(map[string]any{"files": sums, "package": c.SHA256})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, ".cargo-checksum.json"), append(text, '\n'), 0o644)
}

func sumFile(p string) (string, error) {
	f, err := os.Open(p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// CargoConfig is the text for a .cargo/config.toml that makes Cargo take the
// lock's sources from the vendor folder at directory, and never a network.
// Git sources are replaced too: WriteVendor does not make their folders.
func (l *CargoLock) CargoConfig(directory string) string {
	var b strings.Builder
	sources := map[string]string{}
	for _, c := range l.Crates {
		kind, address, _ := strings.Cut(c.Source, "+")
		switch {
		case strings.HasSuffix(address, "/crates.io-index"):
			sources["crates-io"] = ""
		case kind == "sparse":
			sources[c.Source] = fmt.Sprintf("registry = %s\n", quoteTOML(c.Source))
		default:
			sources[c.Source] = fmt.Sprintf("registry = %s\n", quoteTOML(address))
		}
	}
	for _, g := range l.Git {
		name, _, _ := strings.Cut(g.Source, "#")
		text := fmt.Sprintf("git = %s\n", quoteTOML(g.URL))
		if key, value, ok := strings.Cut(g.Ref, "="); ok && (key == "branch" || key == "tag" || key == "rev") {
			text += fmt.Sprintf("%s = %s\n", key, quoteTOML(value))
		}
		sources[name] = text
	}
	names := make([]string, 0, len(sources))
	for n := range sources {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(&b, "[source.%s]\n%sreplace-with = \"vendored-sources\"\n\n", quoteTOML(n), sources[n])
	}
	fmt.Fprintf(&b, "[source.vendored-sources]\ndirectory = %s\n\n[net]\noffline = true\n", quoteTOML(directory))
	return b.String()
}

// quoteTOML writes a basic string of TOML.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// makeFolder fills a folder beside target, sets its times, and moves it to
// target in one step.
func makeFolder(target string, mtime time.Time, fill func(dir string) error) (err error) {
	if entries, err := os.ReadDir(target); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is there already and not empty", target)
	}
	dir, err := os.MkdirTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	if err := fill(dir); err != nil {
		return err
	}
	var paths []string
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		paths = append(paths, p)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(paths) {
		if err := os.Chtimes(p, mtime, mtime); err != nil {
			return err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.Rename(dir, target)
}
