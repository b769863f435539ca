// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// A Pending holds new objects in memory and stores many of them with one git
// process. What was staged can be read like what the repository has. It is for
// one goroutine, and must be closed.
type Pending struct {
	repo  *Repo
	cat   *CatFile
	fresh map[ID]pendingObject
	order []ID
	size  int
	trees map[ID][]TreeEntry
}

type pendingObject struct {
	kind    string
	content []byte
}

// Pending starts an empty one; its reading process dies with ctx.
func (r *Repo) Pending(ctx context.Context) (*Pending, error) {
	c, err := r.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	return &Pending{repo: r, cat: c, fresh: map[ID]pendingObject{}, trees: map[ID][]TreeEntry{}}, nil
}

// Close ends the reading process. What was not flushed is gone.
func (s *Pending) Close() error { return s.cat.Close() }

// Size is how many bytes wait for Flush.
func (s *Pending) Size() int { return s.size }

// Read is CatFile.Read that also knows what was staged.
func (s *Pending) Read(id ID, kind string) ([]byte, error) {
	if o, ok := s.fresh[id]; ok {
		if o.kind != kind {
			return nil, &WrongKind{id, o.kind, kind}
		}
		return o.content, nil
	}
	return s.cat.Read(id, kind)
}

// ReadTree is CatFile.ReadTree that also knows what was staged. The entries
// must not be changed.
func (s *Pending) ReadTree(id ID) ([]TreeEntry, error) {
	if e, ok := s.trees[id]; ok {
		return e, nil
	}
	if id == EmptyTree {
		return nil, nil
	}
	content, err := s.Read(id, "tree")
	if err != nil {
		return nil, err
	}
	entries, err := ParseTree(content)
	if err == nil {
		s.trees[id] = entries
	}
	return entries, err
}

// Commit returns a commit; see CatFile.Commit.
func (s *Pending) Commit(id ID) (*Commit, error) {
	if o, ok := s.fresh[id]; ok && o.kind == "commit" {
		return ParseCommit(id, o.content)
	}
	return s.cat.Commit(id)
}

// AddBlob stages a blob. The content must not be changed afterwards.
func (s *Pending) AddBlob(content []byte) ID { return s.add("blob", content) }

// AddTree stages a tree; see Repo.WriteTree.
func (s *Pending) AddTree(entries []TreeEntry) (ID, error) {
	content, err := FormatTree(entries)
	if err != nil {
		return "", err
	}
	return s.add("tree", content), nil
}

// AddCommit stages a commit; see Repo.CommitTree.
func (s *Pending) AddCommit(c Commit) (ID, error) {
	content, err := FormatCommit(c)
	if err != nil {
		return "", err
	}
	return s.add("commit", content), nil
}

func (s *Pending) add(kind string, content []byte) ID {
	id := HashObject(kind, content)
	if _, ok := s.fresh[id]; !ok {
		s.fresh[id] = pendingObject{kind, content}
		s.order = append(s.order, id)
		s.size += len(content)
	}
	return id
}

// HashObject returns the id that an object has.
func HashObject(kind string, content []byte) ID {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return ID(hex.EncodeToString(h.Sum(nil)))
}

// fewObjects is up to how many objects become files of their own instead of a
// pack.
const fewObjects = 100

// Flush stores what was staged and the repository does not have. No ref points
// at it yet.
func (s *Pending) Flush(ctx context.Context) error {
	var missing []ID
	err := s.repo.Headers(ctx, s.order, func(i int, h Header) error {
		if h.Kind == "" {
			missing = append(missing, s.order[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		c := s.repo.Command("unpack-objects", "-q")
		if len(missing) > fewObjects {
			c = s.repo.Command("index-pack", "--stdin")
		}
		c.Stdin = bytes.NewReader(s.pack(missing))
		if _, err := output(ctx, c); err != nil {
			return fmt.Errorf("store %d objects: %w", len(missing), err)
		}
	}
	s.fresh, s.order, s.size = map[ID]pendingObject{}, nil, 0
	return nil
}

// pack writes objects in git's pack format, without deltas.
func (s *Pending) pack(ids []ID) []byte {
	var b bytes.Buffer
	b.WriteString("PACK")
	binary.Write(&b, binary.BigEndian, uint32(2))
	binary.Write(&b, binary.BigEndian, uint32(len(ids)))
	z, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed) // the level is valid
	for _, id := range ids {
		o := s.fresh[id]
		n := len(o.content)
		// Three bits of kind and four of size, then seven bits of size each.
		head := map[string]byte{"commit": 1, "tree": 2, "blob": 3}[o.kind]<<4 | byte(n&15)
		for n >>= 4; n > 0; n >>= 7 {
			b.WriteByte(head | 0x80)
			head = byte(n & 0x7f)
		}
		b.WriteByte(head)
		z.Reset(&b)
		z.Write(o.content)
		z.Close()
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}
