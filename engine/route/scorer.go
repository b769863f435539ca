// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/layout"
)

// A Scorer is the program that classifies conversations for Laya: it reads one
// question a line and writes one answer a line.
type Scorer struct {
	Program string
	Args    []string
}

const layaFamily = "typed-decisions"

// scorer returns Laya's daemon, with its model.
func (p *planner) scorer() (*Scorer, error) {
	prog := program{
		name: layout.Laya, flag: "", dirs: layout.Dirs(layout.Laya), inPath: true,
		brings: "it is no component yet; give its path with ONEBIT_LAYA_GGML",
	}
	var path string
	var err error
	if named, _ := p.h.Getenv("ONEBIT_LAYA_GGML"); named != "" {
		path, err = prog.named("ONEBIT_LAYA_GGML", named, p.h)
	} else {
		path, err = prog.find(p.r, p.h, "auto --laya")
	}
	if err != nil {
		return nil, err
	}
	model, err := p.layaModel()
	if err != nil {
		return nil, err
	}
	device, _ := p.h.Getenv("ONEBIT_LAYA_DEVICE")
	if device == "" {
		device = "hrx"
	}
	return &Scorer{Program: path, Args: []string{"daemon", model, "--family", layaFamily, "--device", device}}, nil
}

// layaModel returns the GGUF file of the classifier: of --laya-model, of
// ONEBIT_LAYA_MODEL, or of the user's data folder.
func (p *planner) layaModel() (string, error) {
	path := p.r.LayaModel
	if path == "" {
		path, _ = p.h.Getenv("ONEBIT_LAYA_MODEL")
	}
	if path == "" {
		data, _ := p.h.Getenv("XDG_DATA_HOME")
		if home, _ := p.h.Getenv("HOME"); data == "" {
			data = filepath.Join(home, ".local", "share")
		}
		path = filepath.Join(data, "1bit", "laya")
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("--laya: there is no model at %s: give its GGUF file with --laya-model", path)
	}
	if !info.IsDir() {
		return path, nil
	}
	var list []string
	for _, pattern := range []string{"gguf/*.gguf", "typed-decisions/*.gguf", "*.gguf"} {
		found, _ := filepath.Glob(filepath.Join(path, pattern))
		list = append(list, found...)
	}
	for _, f := range list {
		if strings.Contains(f[len(path):], layaFamily) {
			return f, nil
		}
	}
	if len(list) == 0 {
		return "", fmt.Errorf("--laya: %s has no GGUF file; the checkpoints in safetensors have no scorer in this build", path)
	}
	return list[0], nil
}
