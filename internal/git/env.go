// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"os"
	"strconv"
	"strings"
)

// settings override whatever a repository's own configuration says. Nothing
// here depends on the call.
var settings = [...]string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.attributesFile=/dev/null",
	"core.excludesFile=/dev/null",
	"core.quotePath=true",
	"core.autocrlf=false",
	"core.askPass=",
	"core.commitGraph=true",
	"credential.helper=",
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.detachedHead=false",
	"protocol.allow=never",
	"protocol.version=2",
	"submodule.recurse=false",
	"fetch.recurseSubmodules=false",
	"fetch.writeCommitGraph=false",
	"fetch.showForcedUpdates=false",
	// Every object is parsed and its name recomputed on arrival. What old
	// but honest repositories contain is let through: fsck is about
	// well-formedness, CheckTree is about safety.
	"transfer.fsckObjects=true",
	"fetch.fsck.zeroPaddedFilemode=ignore",
	"fetch.fsck.badFilemode=ignore",
	"fetch.fsck.missingSpaceBeforeDate=ignore",
	"fetch.fsck.missingSpaceBeforeEmail=ignore",
	"fetch.fsck.missingEmail=ignore",
	"fetch.fsck.missingNameBeforeEmail=ignore",
	"fetch.fsck.badTimezone=ignore",
	"fetch.fsck.badEmail=ignore",
	"fetch.fsck.badName=ignore",
	"fetch.fsck.zeroPaddedDate=ignore",
	"fetch.fsck.missingTaggerEntry=ignore",
	"fetch.fsck.badTagName=ignore",
	"fetch.fsck.gitmodulesMissing=ignore", // filtered away, not absent
	"fetch.fsck.gitmodulesParse=ignore",
	"fetch.fsck.gitmodulesLarge=ignore",
	// A renamed repository is an error that names the new address, and a
	// redirect could carry credentials to another host.
	"http.followRedirects=false",
	"http.lowSpeedLimit=100",
	"http.lowSpeedTime=60",
	"http.emptyAuth=false",
	"push.recurseSubmodules=no",
	"push.followTags=false",
	"push.gpgSign=false",
	// What decides about the text of merges and diffs is ours.
	"merge.renames=true",
	"merge.directoryRenames=conflict",
	"merge.conflictStyle=merge",
	"merge.renormalize=false",
	"diff.renames=true",
	"diff.renameLimit=2000",
	"merge.renameLimit=7000",
	"diff.algorithm=default",
	"diff.suppressBlankEmpty=false",
	"diff.noprefix=false",
	"diff.mnemonicPrefix=false",
	"i18n.commitEncoding=utf-8",
	"i18n.logOutputEncoding=utf-8",
	"log.showSignature=false",
	"color.ui=false",
}

// inherited are the only variables that reach git: where programs are and how
// hosts are reached.
var inherited = [...]string{"PATH", "TMPDIR", "SSH_AUTH_SOCK",
	"HTTPS_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"}

// environment returns all variables that git is started with. config holds
// further settings "key=value" that must not be seen in an argument list.
func environment(config []string) []string {
	env := []string{
		"HOME=/nonexistent", // no .netrc, no .gitconfig, no .config/git
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"SSH_ASKPASS=",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes -oForwardAgent=no",
		"GIT_NO_LAZY_FETCH=1", // git 2.45 and newer; older ones have no remote to ask
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_PAGER=cat",
		"GIT_EDITOR=false",
		"LC_ALL=C",
		"TZ=UTC",
	}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	// libcurl reads only the lower-case name, and neither of the variables
	// with which OpenSSL and Go find certificates.
	if v := os.Getenv("HTTP_PROXY"); v != "" && os.Getenv("http_proxy") == "" {
		env = append(env, "http_proxy="+v)
	}
	if v := os.Getenv("SSL_CERT_FILE"); v != "" {
		env = append(env, "SSL_CERT_FILE="+v, "GIT_SSL_CAINFO="+v)
	}
	if v := os.Getenv("SSL_CERT_DIR"); v != "" {
		env = append(env, "SSL_CERT_DIR="+v, "GIT_SSL_CAPATH="+v)
	}
	if len(config) > 0 {
		env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
		for i, kv := range config {
			k, v, _ := strings.Cut(kv, "=")
			n := strconv.Itoa(i)
			env = append(env, "GIT_CONFIG_KEY_"+n+"="+k, "GIT_CONFIG_VALUE_"+n+"="+v)
		}
	}
	return env
}
