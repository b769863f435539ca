// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf"
)

// A Kind is what a model is made of.
type Kind int

// The kinds of models.
const (
	GGUF Kind = iota
	NPU       // a folder with model.q4nx and npu/
	HF        // an id of Hugging Face, which the program fetches itself
)

// A Model is what the choice depends on.
type Model struct {
	Path    string
	Kind    Kind
	Headers []*gguf.Header // of all its files, in order; only for GGUF
}

// Header returns the header of the first file, with all keys; an empty one
// for a model that is no GGUF.
func (m Model) Header() *gguf.Header {
	if len(m.Headers) == 0 {
		return &gguf.Header{}
	}
	return m.Headers[0]
}

// Bytes returns the size of all files of the model, 0 where it has none here.
func (m Model) Bytes() (n int64) {
	for _, h := range m.Headers {
		n += h.Size
	}
	return n
}

var hfID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ReadModel reads what the model at path is; for the device mlx path is an id.
func ReadModel(path string, d devices.Name) (Model, error) {
	if d == devices.MLX {
		if !hfID.MatchString(path) {
			return Model{}, fmt.Errorf("%s: --device mlx takes the id of a model at Hugging Face, as in owner/name", path)
		}
		return Model{Path: path, Kind: HF}, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return readFolder(path)
	}
	if err == nil && begins(path, "1BP\x00") {
		return Model{}, fmt.Errorf("%s: is a 1BP file, for --device ds4, which is not in this build: DwarfStar is no part of this distribution; use the model as GGUF", path)
	}
	return readGGUF(path)
}

func readGGUF(path string) (Model, error) {
	headers, err := gguf.ReadModel(path)
	if err != nil {
		return Model{}, err
	}
	return Model{Path: path, Headers: headers}, nil
}

// readFolder reads a folder: one for the NPU, or one that nothing here takes.
func readFolder(path string) (Model, error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(path, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case has("model.q4nx") && has("npu"):
		return Model{Path: path, Kind: NPU}, nil
	case has("genai_config.json"):
		return Model{}, fmt.Errorf("%s: is a folder for --device onnx, which is not in this build: ONNX GenAI is no part of this distribution; use the model as GGUF", path)
	}
	return Model{}, &gguf.Error{Kind: gguf.NotGGUF, Path: path, Text: "is a directory, not a GGUF file, and no model for the NPU: it has no model.q4nx and npu/"}
}

func begins(path, magic string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(magic))
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == magic
}
