// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package seccomp

// refused fail with EPERM. Names that the architecture lacks are left out.
var refused = []string{
	// namespaces, mounts and roots
	"unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot",
	"open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
	// kernel keys, programs, events and faults
	"add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "fanotify_init",
	// files by handle reach outside the mounts
	"open_by_handle_at",
	// the machine
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
	"swapon", "swapoff", "syslog", "acct", "quotactl", "quotactl_fd", "vhangup",
	"settimeofday", "stime", "clock_settime", "clock_settime64", "adjtimex", "clock_adjtime", "clock_adjtime64",
	"sethostname", "setdomainname", "iopl", "ioperm", "lookup_dcookie", "nfsservctl",
}

// absent fail with ENOSYS, so that programs fall back to an older call whose
// arguments a filter can read.
var absent = []string{"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"}

// namespaceFlags are the flags of clone that make a namespace, linux/sched.h.
const namespaceFlags = 0x00020000 | // CLONE_NEWNS
	0x02000000 | // CLONE_NEWCGROUP
	0x04000000 | // CLONE_NEWUTS
	0x08000000 | // CLONE_NEWIPC
	0x10000000 | // CLONE_NEWUSER
	0x20000000 | // CLONE_NEWPID
	0x40000000 // CLONE_NEWNET
