// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bufio"
	"bytes"
	"io"
	"sync"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// What is kept of a program's output.
const (
	tailLines = 20
	lineLimit = 4 << 10 // bytes of one line; the rest of a longer one is dropped
)

// A tail keeps the last lines of a stream and copies all of them to a log,
// both without what a terminal would obey.
type tail struct {
	log  io.Writer
	drop func([]byte) bool

	mu    sync.Mutex
	lines []string
}

// ReadFrom reads r to its end or first error.
func (t *tail) ReadFrom(r io.Reader) (int64, error) {
	in := bufio.NewReaderSize(r, lineLimit)
	for {
		line, err := in.ReadSlice('\n')
		long := err == bufio.ErrBufferFull
		if len(line) > 0 {
			t.add(line)
		}
		for long && err == bufio.ErrBufferFull {
			_, err = in.ReadSlice('\n')
		}
		if err != nil {
			return 0, err
		}
	}
}

func (t *tail) add(line []byte) {
	line = bytes.TrimRight(line, "\r\n")
	if t.drop != nil && t.drop(line) {
		return
	}
	// Programs print what stands in the files that they are given.
	line = []byte(inert.Text(string(line), 1, lineLimit))
	if t.log != nil {
		// One write a line, so that lines of two programs do not mix.
		t.log.Write(append(append(make([]byte, 0, len(line)+1), line...), '\n'))
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		copy(t.lines, t.lines[1:])
		t.lines = t.lines[:tailLines-1]
	}
	t.lines = append(t.lines, string(line))
}

// Lines returns the last lines, oldest first.
func (t *tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines...)
}
