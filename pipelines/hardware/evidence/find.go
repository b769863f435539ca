// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"crypto/ed25519"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
)

// Folder is where evidence lies, in the repository.
const Folder = "ci/evidence"

// maxFiles is how many files of one output are read: tests times runners.
const maxFiles = 1000

// Path returns where a statement of a runner belongs, with slashes, relative to
// the repository.
func (s *Statement) Path(runner string) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	prefix, err := prefixOf(s.Output)
	if err != nil {
		return "", err
	}
	return path.Join(Folder, s.Component, prefix+s.Test+"."+runner+".json"), nil
}

// Write signs a statement and puts it where it belongs below root, a work tree.
// It returns that path.
func Write(root string, s *Statement, key ed25519.PrivateKey, runner string) (string, error) {
	rel, err := s.Path(runner)
	if err != nil {
		return "", err
	}
	envelope, err := Sign(s, key, runner)
	if err != nil {
		return "", err
	}
	file := filepath.Join(root, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return rel, atomicfile.Write(file, envelope, 0o644)
}

func prefixOf(output string) (string, error) {
	digits, err := outputDigits(output)
	if err != nil {
		return "", err
	}
	return digits[:12] + ".", nil
}

// Found is what there is about one output and one test.
type Found struct {
	// Counts are the verified statements, the newest of each runner, sorted by
	// runner. Of two of one moment that differ, the failed one.
	Counts []*Verified
	// Refused are files that would be evidence and do not verify. A person must
	// hear of them; they never count.
	Refused []Refused
}

// Refused is a file and what is wrong with it.
type Refused struct {
	File string // with slashes, relative to the repository
	Err  error
}

// Find returns the evidence in the work trees at roots about an output (t1:) of
// a component for a definition (sha256:).
func Find(roots []string, component, output, definition string, trust *Trust, now time.Time) (*Found, error) {
	if !plainName.MatchString(component) {
		return nil, &Malformed{"a component's name has a-z, 0-9 and - only"}
	}
	prefix, err := prefixOf(output)
	if err != nil {
		return nil, err
	}
	found := &Found{}
	newest := map[string]*Verified{}
	for _, root := range roots {
		err := read(root, path.Join(Folder, component), prefix, func(file string, envelope []byte, err error) {
			v := (*Verified)(nil)
			if err == nil {
				v, err = Verify(envelope, trust, now)
			}
			if err != nil {
				r := Refused{file, err}
				if !slices.ContainsFunc(found.Refused, func(o Refused) bool { return o.File == file && o.Err.Error() == err.Error() }) {
					found.Refused = append(found.Refused, r)
				}
				return
			}
			if v.Component != component || v.Output != output || v.Definition != definition {
				return // about something else that begins alike, or about a test as it was
			}
			old := newest[v.Runner]
			if old == nil || v.At.After(old.At) || v.At.Equal(old.At) && v.Result == Failed {
				newest[v.Runner] = v
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for _, v := range newest {
		found.Counts = append(found.Counts, v)
	}
	slices.SortFunc(found.Counts, func(a, b *Verified) int { return strings.Compare(a.Runner, b.Runner) })
	return found, nil
}

// read calls each for every file below folder of root whose name begins with
// prefix. Nothing outside of root is opened, and only regular files are.
func read(root, folder, prefix string, each func(file string, envelope []byte, err error)) error {
	in, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer in.Close()
	entries, err := fs.ReadDir(in.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		file := path.Join(folder, e.Name())
		if n++; n > maxFiles {
			each(file, nil, &Malformed{"there are too many files about one output"})
			return nil
		}
		if !e.Type().IsRegular() {
			each(file, nil, &Malformed{"it is not a regular file"})
			continue
		}
		envelope, err := readFile(in, file)
		each(file, envelope, err)
	}
	return nil
}

func readFile(in *os.Root, file string) ([]byte, error) {
	f, err := in.Open(filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}
