// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// printed passes on what a step prints, up to a limit for both streams
// together, and says once when there is more.
type printed struct {
	mu    sync.Mutex
	n     int64
	limit int64 // 0: none
	over  func()
}

func (p *printed) to(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return &stream{p, w}
}

type stream struct {
	p *printed
	w io.Writer
}

var errOver = errors.New("more than the limit was printed")

// Write holds the lock while it writes: both streams may end in one writer.
func (s *stream) Write(b []byte) (int, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	room := int64(len(b))
	if s.p.limit > 0 {
		room = min(room, s.p.limit-s.p.n)
	}
	n, err := s.w.Write(b[:room])
	s.p.n += int64(n)
	if err == nil && room < int64(len(b)) {
		s.p.over()
		err = errOver
	}
	return n, err
}

// size sums up what the writable binds hold, in bytes of disk. Files that
// vanish meanwhile are left out, a file with several names counts once.
func size(binds []Bind) int64 {
	var sum int64
	type inode struct{ dev, ino uint64 }
	seen := map[inode]bool{}
	for _, b := range binds {
		if !b.Writable {
			continue
		}
		filepath.WalkDir(b.From, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it went away while we looked
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			st, ok := info.Sys().(*syscall.Stat_t)
			if !ok {
				return nil
			}
			if key := (inode{st.Dev, st.Ino}); st.Nlink < 2 || !seen[key] {
				seen[key] = true
				sum += st.Blocks * 512
			}
			return nil
		})
	}
	return sum
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailSize = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*tailSize {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-tailSize:]...)
	}
	return len(b), nil
}

// last returns the last line that starts with prefix, without it.
func (t *tail) last(prefix string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := "it said nothing"
	for line := range strings.Lines(string(t.kept)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			found = text
		}
	}
	return found
}
