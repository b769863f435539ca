// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/strictjson"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// The most bytes that files of a folder may have.
const (
	maxRound    = 16 << 20
	maxSplit    = 64 << 10
	maxVerdicts = 16 << 20
	maxProposal = 32 << 20
	maxBundle   = 128 << 20
)

// Tampered says that what a round's folder has is not what the round makes:
// something between the phases changed it, or two versions of this program
// worked on it.
type Tampered struct{ What, Why string }

func (e *Tampered) Error() string {
	return fmt.Sprintf("%s is not what the round makes (%s): nothing is pushed; look at the machine that ran the gates", e.What, e.Why)
}

// Verdict is Fail.
func (e *Tampered) Verdict() verdict.Verdict { return verdict.Fail }

func tampered(what, format string, args ...any) error {
	return &Tampered{what, inert.Line(fmt.Sprintf(format, args...), mostWhy)}
}

// A handed folder is one that came from somewhere else. Nothing in it is
// followed out of it.
type handed struct{ *os.Root }

func openFolder(f round.Folder) (handed, error) {
	root, err := os.OpenRoot(string(f))
	return handed{root}, err
}

// open opens a file that must be a plain one of at most max bytes.
func (h handed) open(name string, max int64) (*os.File, error) {
	st, err := h.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, tampered(name, "it is no regular file")
	case st.Size() > max:
		return nil, tampered(name, "it has %d bytes, at most %d are read", st.Size(), max)
	}
	f, err := h.Open(name)
	if err != nil {
		return nil, err
	}
	// What was opened may be something else than what was looked at.
	if now, err := f.Stat(); err != nil || !os.SameFile(st, now) {
		f.Close()
		return nil, tampered(name, "it was replaced while it was read")
	}
	return f, nil
}

func (h handed) read(name string, max int64) ([]byte, error) {
	f, err := h.open(name, max)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		err = tampered(name, "it has more than %d bytes", max)
	}
	return data, err
}

// decode reads one JSON value and nothing else, without fields that v lacks.
func decode(name string, data []byte, v any) error {
	if err := strictjson.Decode(data, v); err != nil {
		return tampered(name, "%s", err)
	}
	return nil
}

// A Missing file is one that the gates did not leave: they were ended, or never
// ran. Nothing is known of the round then.
type Missing struct{ What string }

func (e *Missing) Error() string {
	return fmt.Sprintf("%s is not in the round's folder: the gates were ended, or never ran; the next night tries again", e.What)
}

// Verdict is Infra.
func (e *Missing) Verdict() verdict.Verdict { return verdict.Infra }

// absent makes a *Missing of what says that a file is not there.
func absent(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Missing{name}
	}
	return err
}
