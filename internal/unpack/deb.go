// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Deb unpacks the data of a Debian package into the folder target, in one step.
func Deb(ctx context.Context, r io.Reader, target string, opts ...Option) error {
	return into(target, opts, func(t *Tree) error { return t.Deb(ctx, r) })
}

// Deb adds the data of a Debian package to the tree.
func (t *Tree) Deb(ctx context.Context, r io.Reader) error {
	_, data, err := DebMember(r, "data.tar")
	if err != nil {
		return err
	}
	return t.Tar(ctx, data)
}

// DebMember returns the member of a Debian package whose name is prefix, alone
// or with an ending (control.tar, data.tar), and its name. The reader gives an
// io.ErrUnexpectedEOF where the package is cut short.
func DebMember(r io.Reader, prefix string) (string, io.Reader, error) {
	magic := make([]byte, 8)
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != "!<arch>\n" {
		return "", nil, &Broken{fmt.Errorf("no Debian package")}
	}
	for i := 0; i < 16; i++ {
		h := make([]byte, 60)
		if _, err := io.ReadFull(r, h); err == io.EOF {
			break
		} else if err != nil {
			return "", nil, broken(err)
		}
		name := strings.TrimSuffix(strings.TrimRight(string(h[:16]), " "), "/")
		size, err := strconv.ParseInt(strings.TrimRight(string(h[48:58]), " "), 10, 64)
		if err != nil || size < 0 || !bytes.Equal(h[58:], []byte("`\n")) {
			return "", nil, &Broken{fmt.Errorf("a member has no proper header")}
		}
		member := &exact{r: r, left: size}
		if i == 0 {
			version, err := io.ReadAll(io.LimitReader(member, 16))
			if name != "debian-binary" || err != nil || !bytes.HasPrefix(version, []byte("2.")) {
				return "", nil, &Broken{fmt.Errorf("no Debian package of format 2")}
			}
		} else if name == prefix || strings.HasPrefix(name, prefix+".") {
			return name, member, nil
		}
		if _, err := io.Copy(io.Discard, member); err != nil {
			return "", nil, broken(err)
		}
		if size%2 == 1 {
			if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
				return "", nil, broken(err)
			}
		}
	}
	return "", nil, &Broken{fmt.Errorf("the package has no %s", prefix)}
}

// exact reads left bytes and complains when there are fewer.
type exact struct {
	r    io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
