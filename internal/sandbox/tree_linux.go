// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what the processes below one process use at a moment.
type usage struct {
	memory    int64 // bytes, resident
	tasks     int   // processes and their threads
	user, sys time.Duration
}

// Fields of /proc/PID/stat after the command's name, from proc(5), counted
// from the state as 0.
const (
	statParent  = 1
	statUser    = 11 // then system, and both of the children waited for
	statThreads = 17
	statRSS     = 21
	statFields  = 22
)

const ticks = 100 // a second, of the times in stat: USER_HZ, fixed on all of Linux's 64-bit ports

// look sums up the processes below root; root itself counts for time only.
func look(root int) usage {
	stats, children := processes()
	var u usage
	page := int64(os.Getpagesize())
	seen := map[int]bool{}
	var add func(pid int)
	add = func(pid int) {
		if seen[pid] { // the list is no snapshot: a number may come twice
			return
		}
		seen[pid] = true
		s, ok := stats[pid]
		if !ok {
			return
		}
		u.user += time.Duration(s[statUser]+s[statUser+2]) * (time.Second / ticks)
		u.sys += time.Duration(s[statUser+1]+s[statUser+3]) * (time.Second / ticks)
		if pid != root {
			u.memory += s[statRSS] * page
			u.tasks += int(s[statThreads])
		}
		for _, c := range children[pid] {
			add(c)
		}
	}
	add(root)
	return u
}

// userTasks counts the processes and threads of this user.
func userTasks() (n int) {
	stats, _ := processes()
	for pid, s := range stats {
		var st unix.Stat_t
		if unix.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && int(st.Uid) == os.Getuid() {
			n += int(s[statThreads])
		}
	}
	return n
}

// descendants lists every process below root.
func descendants(root int) []int {
	_, children := processes()
	var list []int
	seen := map[int]bool{root: true}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, c := range children[queue[0]] {
			if !seen[c] {
				seen[c] = true
				list = append(list, c)
				queue = append(queue, c)
			}
		}
	}
	return list
}

// processes reads what /proc says of every process. Those that end meanwhile
// are left out.
func processes() (stats map[int][statFields]int64, children map[int][]int) {
	stats, children = map[int][statFields]int64{}, map[int][]int{}
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if fields, ok := process(pid); ok {
			stats[pid] = fields
		}
	}
	// The list is no snapshot: who lost its parent meanwhile has another now.
	for pid, fields := range stats {
		for range 3 {
			if _, ok := stats[int(fields[statParent])]; ok || fields[statParent] == 0 {
				break
			}
			again, ok := process(pid)
			if !ok {
				break
			}
			fields = again
		}
		stats[pid] = fields
		children[int(fields[statParent])] = append(children[int(fields[statParent])], pid)
	}
	return
}

func process(pid int) (fields [statFields]int64, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return fields, false
	}
	fields, zombie, ok := parseStat(data)
	if zombie { // it uses nothing, but its children's times count
		fields[statThreads], fields[statRSS] = 0, 0
	}
	return fields, ok
}

// parseStat reads a line of /proc/PID/stat. The command's name may hold
// anything, so the fields start after its last parenthesis.
func parseStat(line []byte) (fields [statFields]int64, zombie, ok bool) {
	end := bytes.LastIndex(line, []byte(") "))
	if end < 0 {
		return fields, false, false
	}
	words := bytes.Fields(line[end+2:])
	if len(words) < statFields {
		return fields, false, false
	}
	for i := 1; i < statFields; i++ {
		n, err := strconv.ParseInt(string(words[i]), 10, 64)
		if err != nil {
			return fields, false, false
		}
		fields[i] = n
	}
	return fields, words[0][0] == 'Z' || words[0][0] == 'X', true
}
