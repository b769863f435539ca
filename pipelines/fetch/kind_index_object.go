// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/pins"
)

// readObject reads a json or toml index.
func readObject(ix *pins.FileIndex, base *url.URL, data []byte, version string) ([]listed, error) {
	var root any
	if ix.Format == pins.FormatTOML {
		if err := toml.Unmarshal(data, &root); err != nil {
			return nil, fmt.Errorf("it is no TOML (%w)", err)
		}
	} else {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&root); err != nil {
			return nil, fmt.Errorf("it is no JSON (%w)", err)
		}
	}
	o := &object{ix: ix, base: base, version: version}
	if err := o.walk(root, selectParts(ix.Select), nil, ""); err != nil {
		return nil, err
	}
	if len(o.all) == 0 && o.missing != "" {
		return nil, fmt.Errorf("it has no %s", inert.Quote(o.missing, 200))
	}
	return o.all, nil
}

// selectParts splits a select at its dots, but for those in braces.
func selectParts(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range s {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case '.':
			if depth == 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	if s == "" {
		return nil
	}
	return append(parts, s[from:])
}

// An object walks an index along the select.
type object struct {
	ix      *pins.FileIndex
	base    *url.URL
	version string // the only one wanted; empty for all
	all     []listed
	missing string // a name that was looked for in vain
}

func (o *object) walk(node any, parts, keys []string, version string) error {
	if len(parts) == 0 {
		return o.end(node, keys, version)
	}
	if list, ok := node.([]any); ok {
		for _, one := range list {
			if err := o.walk(one, parts, keys, version); err != nil {
				return err
			}
		}
		return nil
	}
	fields, ok := node.(map[string]any)
	if !ok {
		o.missing = strings.Join(append(keys, parts[0]), ".")
		return nil
	}
	found := false
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		v, ok := matchPart(parts[0], key)
		if !ok || v != "" && o.version != "" && v != o.version {
			continue
		}
		if v == "" {
			v = version
		}
		found = true
		if err := o.walk(fields[key], parts[1:], append(slices.Clone(keys), key), v); err != nil {
			return err
		}
	}
	if names, ok := alternatives(parts[0]); ok {
		for _, name := range names {
			if _, ok := fields[name]; !ok {
				return fmt.Errorf("it has no %s", inert.Quote(strings.Join(append(keys, name), "."), 200))
			}
		}
	} else if !found {
		o.missing = strings.Join(append(keys, parts[0]), ".")
	}
	return nil
}

// matchPart reports whether a key fits one part of a select, and what of it is
// the version.
func matchPart(part, key string) (version string, ok bool) {
	if before, after, is := strings.Cut(part, "{version}"); is {
		v, ok := strings.CutPrefix(key, before)
		v, ok2 := strings.CutSuffix(v, after)
		return v, ok && ok2 && v != ""
	}
	if names, is := alternatives(part); is {
		return "", slices.Contains(names, key)
	}
	return "", part == "*" || part == key
}

// alternatives returns the names of {a,b}.
func alternatives(part string) ([]string, bool) {
	inner, ok := strings.CutPrefix(part, "{")
	inner, ok2 := strings.CutSuffix(inner, "}")
	if !ok || !ok2 || inner == "version" {
		return nil, false
	}
	return strings.Split(inner, ","), true
}

// end reads what a select leads to.
func (o *object) end(node any, keys []string, version string) error {
	switch n := node.(type) {
	case []any:
		for _, one := range n {
			if err := o.end(one, keys, version); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if addressOf(n) != "" {
			return o.add(n, keys, version)
		}
		for _, platform := range o.ix.Platforms {
			if inner, ok := n[platform]; ok {
				if err := o.end(inner, append(slices.Clone(keys), platform), version); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func addressOf(n map[string]any) string {
	return text(n, "xz_url", "url", "tarball", "browser_download_url", "download_url")
}

func text(n map[string]any, names ...string) string {
	for _, name := range names {
		if s, _ := n[name].(string); s != "" {
			return s
		}
	}
	return ""
}

// add reads one file. Rust's manifests have a smaller archive beside the first.
func (o *object) add(n map[string]any, keys []string, version string) error {
	sum := text(n, "sha256", "shasum", "hash", "checksum")
	if text(n, "xz_url") != "" {
		sum = text(n, "xz_hash")
	}
	for _, name := range []string{"digests", "hashes"} {
		if inner, ok := n[name].(map[string]any); ok && sum == "" {
			sum = text(inner, "sha256")
		}
	}
	if d := text(n, "digest"); sum == "" {
		sum = strings.TrimPrefix(d, "sha256:")
	}
	f := pins.File{Name: text(n, "filename"), SHA256: strings.TrimPrefix(sum, "sha256:")}
	if f.Name != "" && f.Name != path.Base(f.Name) {
		return fmt.Errorf("it lists a file with the name %s", inert.Quote(f.Name, 200))
	}
	switch s := n["size"].(type) {
	case json.Number:
		f.Size, _ = s.Int64()
	case int64:
		f.Size = s
	case string:
		f.Size, _ = strconv.ParseInt(s, 10, 64)
	}
	f, err := fileAt(o.base, addressOf(n), f)
	if err != nil {
		return err
	}
	var ok bool
	if f.Platform, ok = platformOf(o.ix.Platforms, keys, f.Name); ok {
		o.all = append(o.all, listed{version, f})
	}
	return nil
}

// platformOf returns which of the platforms a file is for: the one that is a
// key on the way to it, else one in its name.
func platformOf(platforms, keys []string, name string) (string, bool) {
	if len(platforms) == 0 {
		return "", true
	}
	for _, p := range platforms {
		if slices.Contains(keys, p) {
			return p, true
		}
	}
	for _, p := range platforms {
		if strings.Contains(name, p) {
			return p, true
		}
	}
	return "", false
}
