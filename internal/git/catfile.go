// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/1bit-MONSTER/engine/internal/run"
)

// A Header is what git knows about an object without its content. Kind is
// blob, tree, commit or tag, and empty for an object that is not there.
type Header struct {
	ID   ID
	Kind string
	Size int64 // bytes
}

// A CatFile answers questions about objects through one git process. It may be
// used by several goroutines; they take turns. After an error other than
// *MissingObject and *WrongKind it is of no further use. It must be closed.
type CatFile struct {
	mu sync.Mutex
	p  *run.Process
	in *bufio.Reader
	r  *Repo
}

// CatFile starts the process, which dies with ctx.
func (r *Repo) CatFile(ctx context.Context) (*CatFile, error) {
	p, err := r.Command("cat-file", "--batch-command").Start(ctx)
	if err != nil {
		return nil, noGit(err)
	}
	return &CatFile{p: p, in: bufio.NewReaderSize(p.Stdout, 64<<10), r: r}, nil
}

// Close ends the process.
func (c *CatFile) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.Close()
}

// Header returns an object's kind and size; an absent one has no kind.
func (c *CatFile) Header(id ID) (Header, error) {
	if err := check(id); err != nil {
		return Header{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := io.WriteString(c.p.Stdin, "info "+string(id)+"\n"); err != nil {
		return Header{}, c.broken(err)
	}
	h, err := readHeader(c.in)
	if err != nil {
		return h, c.broken(err)
	}
	return h, nil
}

// Read returns an object's content. want is its kind, or empty for any.
// Errors: *MissingObject, *WrongKind. For large blobs use Repo.Contents.
func (c *CatFile) Read(id ID, want string) ([]byte, error) {
	var content []byte
	err := c.ReadAll([]ID{id}, want, func(_ int, b []byte) error {
		content = b
		return nil
	})
	return content, err
}

// pipelined is how many questions are sent before the first answer is read.
// Together they fit a pipe's buffer, so that git never waits for us to read
// while we wait for it to read.
const pipelined = 500

// ReadAll calls each with the content of every object, in order, as Read would
// return it, but asks many questions at a time.
func (c *CatFile) ReadAll(ids []ID, want string, each func(i int, content []byte) error) error {
	if err := check(ids...); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for start := 0; start < len(ids); start += pipelined {
		chunk := ids[start:min(start+pipelined, len(ids))]
		var ask strings.Builder
		for _, id := range chunk {
			ask.WriteString("contents " + string(id) + "\n")
		}
		if _, err := io.WriteString(c.p.Stdin, ask.String()); err != nil {
			return c.broken(err)
		}
		var first error // later answers are read all the same, to stay in step
		for i := range chunk {
			h, err := readHeader(c.in)
			if err != nil {
				return c.broken(err)
			}
			if h.Kind == "" {
				if first == nil {
					first = &MissingObject{chunk[i]}
				}
				continue
			}
			content := make([]byte, h.Size+1)
			if _, err := io.ReadFull(c.in, content); err != nil {
				return c.broken(err)
			}
			switch {
			case first != nil:
			case want != "" && h.Kind != want:
				first = &WrongKind{h.ID, h.Kind, want}
			default:
				first = each(start+i, content[:h.Size])
			}
		}
		if first != nil {
			return first
		}
	}
	return nil
}

// broken ends the process, which lost its step.
func (c *CatFile) broken(err error) error { return c.r.local(brokenOffBy(c.p, err)) }

func readHeader(in *bufio.Reader) (Header, error) {
	l, err := in.ReadString('\n')
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Header{}, err
	}
	f := strings.Fields(l)
	if len(f) == 2 && f[1] == "missing" {
		return Header{ID: ID(f[0])}, nil
	}
	if len(f) != 3 {
		return Header{}, fmt.Errorf("cat-file answered %s", inertQuote(l))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return Header{}, fmt.Errorf("cat-file answered %s", inertQuote(l))
	}
	return Header{ID(f[0]), f[1], size}, nil
}

// Headers calls each with kind and size of every object, in order, through a
// git process of its own. An absent object has no kind.
func (r *Repo) Headers(ctx context.Context, ids []ID, each func(i int, h Header) error) error {
	if err := check(ids...); err != nil {
		return err
	}
	if len(ids) == 0 {
		return nil
	}
	p, err := r.lean("--batch-check").Start(ctx)
	if err != nil {
		return noGit(err)
	}
	go func() {
		w := bufio.NewWriterSize(p.Stdin, 32<<10)
		for _, id := range ids {
			if _, err := w.WriteString(string(id) + "\n"); err != nil {
				return // the reader sees why
			}
		}
		w.Flush()
		p.Stdin.Close()
	}()
	in := bufio.NewReaderSize(p.Stdout, 64<<10)
	for i := range ids {
		h, err := readHeader(in)
		if err != nil {
			return r.local(brokenOffBy(p, err))
		}
		if err := each(i, h); err != nil {
			p.Kill()
			return err
		}
	}
	return r.local(p.Close())
}

// chunkSize is how many objects Contents asks for at a time; see pipelined.
const chunkSize = 50

// Chunks cuts ids into the portions that Contents takes, on a channel that
// several Contents may share.
func Chunks(ids []ID) <-chan []ID {
	chunks := make(chan []ID, len(ids)/chunkSize+1)
	for chunk := range slices.Chunk(ids, chunkSize) {
		chunks <- chunk
	}
	close(chunks)
	return chunks
}

// Contents calls each with the content of every object in the chunks, through
// a git process of its own; memory does not grow with their number. Several
// may take from the same channel, to use more cores: each then has a part.
// The callback need not read to the end. An absent object has no kind and an
// empty content.
func (r *Repo) Contents(ctx context.Context, chunks <-chan []ID, each func(id ID, h Header, content io.Reader) error) error {
	p, err := r.lean("--batch-command").Start(ctx)
	if err != nil {
		return noGit(err)
	}
	in := bufio.NewReaderSize(p.Stdout, 256<<10)
	// Git works on one chunk while we read the one before.
	var pending [][]ID
	for open := true; open || len(pending) > 0; {
		for open && len(pending) < 2 {
			var chunk []ID
			if chunk, open = <-chunks; !open {
				break
			}
			if err := ask(p, chunk); err != nil {
				return r.local(brokenOffBy(p, err))
			}
			pending = append(pending, chunk)
		}
		if len(pending) == 0 {
			break
		}
		for _, id := range pending[0] {
			h, err := readHeader(in)
			if err != nil {
				return r.local(brokenOffBy(p, err))
			}
			body := io.LimitedReader{R: in}
			if h.Kind != "" {
				body.N = h.Size
			}
			if err := each(id, h, &body); err != nil {
				p.Kill()
				return err
			}
			if h.Kind == "" {
				continue
			}
			if _, err := io.CopyN(io.Discard, in, body.N+1); err != nil {
				return r.local(brokenOffBy(p, err))
			}
		}
		pending = pending[1:]
	}
	return r.local(p.Close())
}

func ask(p *run.Process, chunk []ID) error {
	if err := check(chunk...); err != nil {
		return err
	}
	var b strings.Builder
	for _, id := range chunk {
		b.WriteString("contents " + string(id) + "\n")
	}
	b.WriteString("flush\n")
	_, err := io.WriteString(p.Stdin, b.String())
	return err
}

// brokenOffBy ends a process and prefers what it said to the pipe's error. It
// does not wait for answers that nobody wants.
func brokenOffBy(p *run.Process, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if e := p.Close(); e != nil {
			err = e
		}
	}
	p.Kill()
	return fmt.Errorf("read objects: %w", err)
}

// lean is a cat-file for many objects, each of which is read once.
func (r *Repo) lean(mode string) run.Command {
	return command(r.dir, []string{"core.deltaBaseCacheLimit=16m", "core.packedGitWindowSize=1m",
		"core.packedGitLimit=16m", "core.bigFileThreshold=8m"}, nil, []string{"cat-file", mode, "--buffer"})
}
