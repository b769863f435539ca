// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

// built compiles 1bit as it is shipped, but for the linker's version strings.
func built(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "1bit")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

func BenchmarkVersion(b *testing.B) {
	path := built(b)
	for b.Loop() {
		if err := exec.Command(path, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDevices: without asking a llama-server what it lists.
func BenchmarkDevices(b *testing.B) {
	path := built(b)
	for b.Loop() {
		if err := exec.Command(path, "devices", "--no-vulkan").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkServeStart: from exec until it listens, for a model with a
// vocabulary of 150,000 tokens; and what it then holds in memory while it
// serves and nobody asks.
func BenchmarkServeStart(b *testing.B) {
	path, dir := built(b), b.TempDir()
	model := gguftest.Vocabulary(150_000).Write(b, filepath.Join(dir, "v.gguf"))
	fake := filepath.Join(dir, "fake-llama-server") // TestMain goes by this name
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Symlink(self, fake); err != nil {
		b.Fatal(err)
	}
	resident := 0
	b.Setenv("XDG_CACHE_HOME", dir)
	for b.Loop() {
		serve := exec.Command(path, "serve", "-m", model, "-p", "0", "--device", "cpu", "--llama-server", fake)
		stderr, err := serve.StderrPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := serve.Start(); err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		wait := func(word string) {
			for lines.Scan() {
				if strings.Contains(lines.Text(), word) {
					return
				}
			}
			b.Fatalf("no line with %q", word)
		}
		wait("listening on")
		b.StopTimer()
		wait("is ready on")
		resident = max(resident, residentKiB(b, serve.Process.Pid))
		serve.Process.Signal(os.Interrupt)
		for lines.Scan() {
		}
		if err := serve.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(resident)/1024, "MiB-resident")
}

// residentKiB reads VmRSS of a process.
func residentKiB(b *testing.B, pid int) int {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); f[0] == "VmRSS:" {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
