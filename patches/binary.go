// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"
	"strings"
)

// base85 are git's digits.
const base85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// binaryLine is how many bytes one line of a binary hunk holds.
const binaryLine = 52

// storeZlib wraps a content in a zlib stream without compressing it: the output
// of a compressor depends on its version, this does not.
func storeZlib(content []byte) []byte {
	out := []byte{0x78, 0x01}
	rest := content
	for {
		part := rest[:min(len(rest), 0xffff)]
		rest = rest[len(part):]
		last := byte(0)
		if len(rest) == 0 {
			last = 1
		}
		out = append(out, last)
		out = binary.LittleEndian.AppendUint16(out, uint16(len(part)))
		out = binary.LittleEndian.AppendUint16(out, ^uint16(len(part)))
		out = append(out, part...)
		if last == 1 {
			break
		}
	}
	return binary.BigEndian.AppendUint32(out, adler32.Checksum(content))
}

// binaryLines writes a content as the lines of a binary hunk.
func binaryLines(b *strings.Builder, content []byte) {
	data := storeZlib(content)
	for len(data) > 0 {
		part := data[:min(len(data), binaryLine)]
		data = data[len(part):]
		if n := len(part); n <= 26 {
			b.WriteByte(byte('A' + n - 1))
		} else {
			b.WriteByte(byte('a' + n - 27))
		}
		for len(part) > 0 {
			var word [4]byte
			n := copy(word[:], part)
			part = part[n:]
			v := binary.BigEndian.Uint32(word[:])
			var digits [5]byte
			for i := 4; i >= 0; i-- {
				digits[i] = base85[v%85]
				v /= 85
			}
			b.Write(digits[:])
		}
		b.WriteByte('\n')
	}
}

// decodeBinaryLine reads one line, without its newline.
func decodeBinaryLine(line string) ([]byte, error) {
	bad := fmt.Errorf("this is no line of a binary hunk")
	if line == "" {
		return nil, bad
	}
	n := 0
	switch c := line[0]; {
	case c >= 'A' && c <= 'Z':
		n = int(c-'A') + 1
	case c >= 'a' && c <= 'z':
		n = int(c-'a') + 27
	default:
		return nil, bad
	}
	if digits := line[1:]; len(digits) != (n+3)/4*5 {
		return nil, fmt.Errorf("the line of the binary hunk has %d characters, its first one says %d", len(digits), (n+3)/4*5)
	}
	var out []byte
	for i := 1; i < len(line); i += 5 {
		v := uint64(0)
		for _, c := range []byte(line[i : i+5]) {
			d := strings.IndexByte(base85, c)
			if d < 0 {
				return nil, bad
			}
			v = v*85 + uint64(d)
		}
		if v > 0xffffffff {
			return nil, bad
		}
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	return out[:n], nil
}

// inflate unpacks exactly size bytes.
func inflate(data []byte, size int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the binary hunk cannot be unpacked")
	}
	content, err := io.ReadAll(io.LimitReader(z, int64(size)+1))
	if err != nil || len(content) != size {
		return nil, fmt.Errorf("the binary hunk does not unpack to the %d bytes that it says", size)
	}
	return content, nil
}
