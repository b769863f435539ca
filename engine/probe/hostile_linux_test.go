// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHostileTree: links in circles, pipes, folders in place of files, files
// without end, and bytes that a terminal would obey.
func TestHostileTree(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const drm, kfd = "sys/class/drm/", "sys/class/kfd/kfd/topology/nodes/"
	must(os.Symlink("renderD129", at(drm+"renderD129")))
	must(os.Symlink("..", at(drm+"renderD130")))
	must(os.Symlink("/dev/zero", at(drm+"renderD128/device/vendor")))
	must(syscall.Mkfifo(at(drm+"renderD128/device/device"), 0o644))
	must(os.MkdirAll(at(drm+"renderD128/device/uevent/x"), 0o755))
	must(os.WriteFile(at(drm+"renderD128/device/mem_info_vram_total"), []byte("99999999999999999999"), 0o644))
	must(os.WriteFile(at(kfd+"0/properties"), []byte("gfx_target_version -1\nsimd_count 9999999999999999999\nsimd_per_cu -0\ndrm_render_minor ../../x\n"), 0o644))
	must(os.WriteFile(at(kfd+"1/properties"), []byte(strings.Repeat("gfx_target_version 110501 \xff\x00\n", 1000)), 0o644))
	must(os.WriteFile(at("proc/cpuinfo"), []byte("model name : \x1b]0;owned\x07evil \u202e\xff\n"), 0o644))
	must(os.Truncate(at("proc/cpuinfo"), 1<<33)) // sparse
	must(os.WriteFile(at("run/systemd/container"), []byte("\x1b[31mjail\n"), 0o644))
	m := Read(Files{Root: root})
	m.Decide(nil)
	if m.CPU != "]0;ownedevil" || m.Container != "[31mjail" {
		t.Errorf("%q, %q", m.CPU, m.Container)
	}
	if text := fmt.Sprintf("%+v", m); strings.ContainsAny(text, "\x1b\x07\u202e") {
		t.Errorf("%q", text)
	}
}
