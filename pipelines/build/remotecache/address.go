// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// An Address is a repository of a registry.
type Address struct {
	repo  name.Repository
	plain bool // http is allowed
}

// ParseAddress reads oci://HOST[:PORT]/REPOSITORY[?plain-http=yes]. Without
// that option http is used for this machine only. Its errors repeat nothing of
// an address that could be a secret.
func ParseAddress(s string) (Address, error) {
	const form = "a remote cache is oci://HOST/REPOSITORY, with ?plain-http=yes behind it where the registry has no TLS"
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "oci" || u.Host == "" || u.Opaque != "" || u.Fragment != "":
		return Address{}, verdict.Usagef("%s", form)
	case u.User != nil:
		return Address{}, verdict.Usagef("%s: no user name or password; log in with your container tool", form)
	}
	var a Address
	options := []name.Option{name.StrictValidation}
	for key, values := range u.Query() {
		if key != "plain-http" || len(values) != 1 || values[0] != "yes" && values[0] != "no" {
			return Address{}, verdict.Usagef("%s: it has no other option", form)
		}
		if a.plain = values[0] == "yes"; a.plain {
			options = append(options, name.Insecure)
		}
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return Address{}, verdict.Usagef("%s: its port is none", form)
		}
	}
	// The library's error repeats the repository.
	if a.repo, err = name.NewRepository(u.Host+"/"+strings.Trim(u.Path, "/"), options...); err != nil {
		return Address{}, verdict.Usagef("%s: HOST has a dot or a port, REPOSITORY has a-z, 0-9 and _ - . / only, and neither tag nor digest", form)
	}
	return a, nil
}

// String returns the address as it is written.
func (a Address) String() string {
	s := "oci://" + a.repo.Name()
	if a.plain {
		s += "?plain-http=yes"
	}
	return s
}
