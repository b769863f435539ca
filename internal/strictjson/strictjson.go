// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package strictjson writes and reads the JSON files that one run of our
// programs leaves for another. Reading is strict: an older program must not take
// half of what a newer one says, nor a reader less than what was signed.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Encode returns v as a file has it: indented, with a line end. The same value
// gives the same bytes.
func Encode(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return append(data, '\n'), err
}

// Decode reads one JSON value. A field that v does not have, and anything but
// white space after the value, is an error.
func Decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows after its end")
	}
	return nil
}
