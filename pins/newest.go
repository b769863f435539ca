// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
)

// NewestFile is the name, inside the cache, of what the upstreams had when they
// were last asked.
const NewestFile = "newest.json"

// A Newer is the newest version that an upstream had.
type Newer struct {
	Version string    `json:"version,omitempty"`
	Commit  string    `json:"commit,omitempty"`
	Asked   time.Time `json:"asked"`
}

// ReadNewest returns what is known of the newest version of each pin; nothing
// if nobody asked yet.
func ReadNewest(path string) (map[string]Newer, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var newest map[string]Newer
	if err := json.Unmarshal(data, &newest); err != nil {
		return nil, fmt.Errorf("%s: %w: delete it, it is made again", path, err)
	}
	return newest, nil
}

// WriteNewest adds to what is known of the newest version of each pin.
func WriteNewest(path string, found map[string]Newer) error {
	newest, err := ReadNewest(path)
	if err != nil || newest == nil {
		newest = map[string]Newer{} // it is only a cache
	}
	for name, n := range found {
		newest[name] = n
	}
	data, err := json.MarshalIndent(newest, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'), 0o666)
}
