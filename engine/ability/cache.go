// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ability

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
)

// A Cache remembers what programs said. Dir is where; an empty one remembers
// nothing.
type Cache struct{ Dir string }

// UserCache returns the cache of this user; one that remembers nothing where
// the system names no folder for it.
func UserCache() Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}
	}
	return Cache{filepath.Join(dir, "1bit", "backends")}
}

// An identity is what must be the same for an answer to hold: the program's
// file, the folder of its back-ends, and what decides which devices there are.
type identity struct {
	Path   string
	Size   int64
	MTime  time.Time
	Inode  uint64
	Folder time.Time // when a file last came or went beside the program
	Boot   string
	Nodes  string // devices below /dev
	Env    []string
}

// watched are the beginnings of variables that change what a program lists.
var watched = []string{
	"GGML_", "VK_", "AMD_VULKAN_ICD", "MESA_", "RADV_", "DRI_PRIME", "LD_LIBRARY_PATH", "LD_PRELOAD",
	"ROCR_", "HIP_", "HSA_", "CUDA_", "GPU_DEVICE_ORDINAL", "IREE_", "XDG_DATA_DIRS",
}

func identify(path string) (identity, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return identity{}, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return identity{}, err
	}
	id := identity{Path: path, Size: info.Size(), MTime: info.ModTime().UTC(), Inode: inode(info)}
	if dir, err := os.Stat(filepath.Dir(real)); err == nil {
		id.Folder = dir.ModTime().UTC()
	}
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		id.Boot = strings.TrimSpace(string(b))
	}
	for _, pattern := range []string{"/dev/dri/renderD*", "/dev/kfd", "/dev/nvidia*"} {
		nodes, _ := filepath.Glob(pattern)
		id.Nodes += strings.Join(nodes, " ") + " "
	}
	for _, kv := range os.Environ() {
		for _, w := range watched {
			if strings.HasPrefix(kv, w) {
				id.Env = append(id.Env, kv)
			}
		}
	}
	return id, nil
}

// An entry is one file of the cache.
type entry struct {
	Identity string  `json:"identity"` // sum over an identity: values of variables stay out of the file
	Program  Program `json:"program"`
}

// Get returns what the program at path can do, from the cache or by asking it.
// Only answers that are whole are remembered.
func (c Cache) Get(ctx context.Context, path string) (Program, error) {
	id, err := identify(path)
	if c.Dir == "" || err != nil {
		return Ask(ctx, path)
	}
	b, err := json.Marshal(id)
	if err != nil {
		return Program{}, err
	}
	sum := sha256.Sum256(b)
	key := hex.EncodeToString(sum[:])
	name := sha256.Sum256([]byte(path))
	file := filepath.Join(c.Dir, hex.EncodeToString(name[:8])+".json")
	var have entry
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &have) == nil && have.Identity == key && have.Program.Path == path {
		return have.Program, nil
	}
	p, err := Ask(ctx, path)
	if err == nil && p.FlagsKnown && p.DevicesKnown {
		c.put(file, entry{key, p})
	}
	return p, err
}

// put writes an entry. A cache that can not be written is no error: the
// program is asked again the next time.
func (c Cache) put(file string, e entry) {
	b, err := json.Marshal(e)
	if err == nil && os.MkdirAll(c.Dir, 0o700) == nil {
		_ = atomicfile.Write(file, append(b, '\n'), 0o600)
	}
}
