// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Command scan stands for upstream code that looks for a secret: it reads the
// environment and the command line of every process and every file that it can
// reach, and fails where one of them has the text that its argument is the
// reverse of, so that it does not find itself. It also fails where it could read
// hardly anything, since that would prove nothing. Its second argument is a file
// to write.
package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	want := []byte(os.Args[1])
	slices.Reverse(want)
	found, environs, files := []string{}, 0, 0
	look := func(path string) bool {
		data, ok := read(path)
		if ok && bytes.Contains(data, want) {
			found = append(found, path)
		}
		return ok
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		if look(p + "/environ") {
			environs++
		}
		look(p + "/cmdline")
		threads, _ := filepath.Glob(p + "/task/*/environ")
		for _, t := range threads {
			look(t)
		}
		open, _ := filepath.Glob(p + "/fd/*")
		for _, f := range open {
			if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() {
				look(f)
			}
		}
	}
	for _, root := range roots() {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // not ours to read
			case d.IsDir() && (path == "/proc" || path == "/sys"):
				return fs.SkipDir
			case d.Type().IsRegular() && look(path):
				files++
			}
			return nil
		})
	}
	fmt.Printf("read %d environments of %d processes and %d files\n", environs, len(processes), files)
	if len(found) > 0 {
		fmt.Println("FOUND in", strings.Join(found, ", "))
		os.Exit(1)
	}
	if environs == 0 || files == 0 {
		fmt.Println("NOTHING could be read")
		os.Exit(1)
	}
	if err := os.WriteFile(os.Args[2], []byte("found nothing\n"), 0o644); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// roots are where files are looked for: everywhere, or what the environment says.
func roots() []string {
	if dir := os.Getenv("SCAN"); dir != "" {
		return []string{dir}
	}
	return []string{"/"}
}

// read reads the first 64 MiB of a file.
func read(path string) ([]byte, bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<20))
	return data, err == nil
}
