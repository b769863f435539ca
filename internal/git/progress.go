// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"strings"
)

// A Progress is told what git says while it works, a line at a time, such as
// "Receiving objects:  42% (840/2000)". Lines of the remote begin with
// "remote: ". The text is inert. It is called from another goroutine than the
// caller's, never twice at once. Nil is no progress.
type Progress func(text string)

// progressWriter cuts stderr into lines; git ends its counters with a
// carriage return.
type progressWriter struct {
	say  Progress
	rest []byte
}

func (w *progressWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexAny(w.rest, "\r\n")
		if i < 0 {
			break
		}
		l := strings.TrimSpace(string(w.rest[:i]))
		w.rest = w.rest[i+1:]
		if l != "" && !strings.HasPrefix(l, "fatal:") && !strings.HasPrefix(l, "error:") {
			w.say(plain(l))
		}
	}
	if len(w.rest) > 4<<10 {
		w.rest = nil // no line of progress is that long
	}
	return len(p), nil
}
