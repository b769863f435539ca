// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
)

var update = flag.Bool("update", false, "write the golden files")

// A tree is one machine of testdata: its files, which of them may not be
// opened, and which programs there are.
type tree struct {
	files    Files
	programs []string
}

// readTree unpacks an archive. Its comment may have a line "deny: ERRNO PATH…"
// and one "programs: DEVICE…".
func readTree(t *testing.T, path string) tree {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr := tree{files: Files{Root: t.TempDir()}}
	for _, f := range archive.Files {
		name := filepath.Join(tr.files.Root, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 0 && f[0] == "programs:":
			tr.programs = f[1:]
		case len(f) > 0 && f[0] == "deny:":
			errno := map[string]syscall.Errno{"EPERM": syscall.EPERM, "EACCES": syscall.EACCES}[f[1]]
			tr.files.Deny = func(path string) error {
				if slices.Contains(f[2:], path) {
					return errno
				}
				return nil
			}
		}
	}
	return tr
}

// found returns the programs of a tree, which list nothing.
func (tr tree) found() map[devices.Name]Found {
	all := map[devices.Name]Found{}
	for _, d := range devices.All() {
		if slices.Contains(tr.programs, "all") || slices.Contains(tr.programs, string(d)) {
			all[d] = Found{Program: "/opt/1bit/" + string(d)}
		} else {
			all[d] = Found{Absent: "not in this build"}
		}
	}
	return all
}

// TestMachines holds what is said of each machine in testdata against the
// golden file beside it.
func TestMachines(t *testing.T) {
	list, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(list) < 8 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			tr := readTree(t, path)
			m := Read(tr.files)
			m.Decide(tr.found())
			got := describe(m)
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("(-want +got; refresh with: go test ./engine/probe -run TestMachines -update)\n%s", d)
			}
		})
	}
}

// describe is a machine as text, without what every Linux has.
func describe(m Machine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "container %q wsl %v cpu %q memory %+v\nlimits %+v power %+v\nhsa %v icds %v\nkfd %s\n",
		m.Container, m.WSL, m.CPU, m.Memory, m.Limits, m.Power, m.HSA, m.Vulkan.Drivers, m.KFD.Access)
	for _, g := range m.GPUs {
		fmt.Fprintf(&b, "gpu %s | %+v\n", g.Name, g)
	}
	for _, n := range m.NPUs {
		fmt.Fprintf(&b, "npu %s | %+v\n", n.Name, n)
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&b, "warning %s\n", w)
	}
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "row %s %v %s%s\n", r.Device, r.Enabled, r.Uses, r.Reason)
	}
	return b.String()
}

func TestWhatAProgramListsDecides(t *testing.T) {
	tr := readTree(t, "testdata/strix-halo.txtar")
	found := tr.found()
	found[devices.Vulkan] = Found{Program: "/x/llama-server", Able: &ability.Program{Path: "/x/llama-server", DevicesKnown: true,
		Devices: []ability.Device{{Name: "Vulkan0", Description: "llvmpipe (LLVM 21)", Software: true}}}}
	found[devices.HRX] = Found{Program: "/y", Able: &ability.Program{Path: "/y", DevicesKnown: true}}
	m := Read(tr.files)
	m.Decide(found)
	for d, want := range map[devices.Name]string{
		devices.Vulkan: "Vulkan0 is llvmpipe (LLVM 21), which runs on the CPU",
		devices.HRX:    "/y does not list HRX0",
		devices.ROCm:   "",
	} {
		i := slices.IndexFunc(m.Rows, func(r Row) bool { return r.Device == d })
		if m.Rows[i].Reason != want || m.Rows[i].Enabled != (want == "") {
			t.Errorf("%s: %+v, want %q", d, m.Rows[i], want)
		}
	}
	if len(m.Vulkan.Devices) != 1 || m.Vulkan.Asked != "/x/llama-server" {
		t.Errorf("%+v", m.Vulkan)
	}
}

func TestGFXName(t *testing.T) {
	for v, want := range map[int]string{
		90010: "gfx90a", 90402: "gfx942", 90012: "gfx90c", 100103: "gfx1013", 100300: "gfx1030", 110003: "gfx1103", 110501: "gfx1151", 120001: "gfx1201",
	} {
		if got := gfxName(v); got != want {
			t.Errorf("%d: %s, want %s", v, got, want)
		}
	}
}

func TestNPUNumbers(t *testing.T) {
	for revision, want := range map[string]string{"0x00": "npu2", "0x10": "npu4", "0x11": "npu5", "0x20": "npu6"} {
		root := t.TempDir()
		dir := filepath.Join(root, "sys/class/accel/accel0/device")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"vendor": "0x1022", "class": "0x118000", "device": "0x17f0", "revision": revision} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m := Read(Files{Root: root})
		if len(m.NPUs) != 1 || m.NPUs[0].Name != want || m.NPUs[0].Node.Access != Absent {
			t.Errorf("%s: %+v", revision, m.NPUs)
		}
	}
}

// TestThisMachine: whatever is here, it can be read without an error.
func TestThisMachine(t *testing.T) {
	m := Read(Files{})
	if m.OS == "linux" && (m.Kernel == "" || m.Memory.Total == 0) {
		t.Errorf("%+v", m)
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		Read(Files{})
	}
}
