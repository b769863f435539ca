// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInfo(t *testing.T) {
	host := Info{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Pins: []Pin{}}
	with := func(change func(*Info)) Info { i := host; change(&i); return i }
	for _, c := range []struct {
		name                          string
		version, source, pins, module string
		want                          Info
	}{
		{"nothing said", "", "", "", "", with(func(i *Info) { i.Version, i.Source = "unknown", "unknown" })},
		{"go build", "", "", "", "(devel)", with(func(i *Info) { i.Version, i.Source = "unknown", "unknown" })},
		{"go install", "", "", "", "v1.2.3", with(func(i *Info) { i.Version, i.Source = "1.2.3", "unknown" })},
		{"our build", "0.1.0", "t1:abc=", "go=1.26.8 hrx", "v9.9.9", with(func(i *Info) {
			i.Version, i.Source = "0.1.0", "t1:abc="
			i.Pins = []Pin{{"go", "1.26.8"}, {"hrx", "unknown"}}
		})},
	} {
		if d := cmp.Diff(c.want, info(c.version, c.source, c.pins, c.module)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
