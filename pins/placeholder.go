// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A placeholder is one kind of number in a pattern. re must have no capturing
// groups.
type placeholder struct {
	re    string
	parse func(string) (part, bool)
}

// A part is what a placeholder read. The byte order of keys is the order of
// the parts, and no key is the beginning of another, so that keys can stand
// one after the other.
type part struct {
	key   string
	canon string
	stage Stage
}

const digits = "[0-9]+"

// placeholders are all that a pattern can hold.
var placeholders = map[string]placeholder{
	"build":  {digits, parseNumber},
	"n":      {digits, parseNumber},
	"major":  {digits, parseNumber},
	"minor":  {digits, parseNumber},
	"patch":  {digits, parseNumber},
	"year":   {"[0-9]{4}", parseNumber},
	"month":  {"[0-9]{1,2}", between(1, 12)},
	"week":   {"[0-9]{1,2}", between(1, 53)},
	"day":    {"[0-9]{1,2}", between(1, 31)},
	"date":   {"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}", parseDate},
	"dots":   {digits + `(?:\.[0-9]+)*`, parseDots},
	"semver": {digits + `\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?`, parseSemver},
	"linux":  {digits + `\.[0-9]+(?:\.[0-9]+)*(?:-rc[0-9]+)?`, parseLinux},
	"go":     {digits + `\.[0-9]+(?:\.[0-9]+)?(?:(?:rc|beta)[0-9]+)?`, parseGo},
	"pep440": {strings.NewReplacer("(", "(?:").Replace(pep440), parsePEP440},
	"debian": {`(?:[0-9]+:)?[0-9][0-9A-Za-z.+~:-]*`, parseDebian},
}

func placeholderNames() string {
	var names []string
	for name := range placeholders {
		names = append(names, "{"+name+"}")
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// number returns the key and canonical form of decimal digits of any length:
// how many there are, then the digits.
func number(s string) part {
	s = strings.TrimLeft(s, "0")
	p := part{key: string([]byte{byte(len(s))}) + s, canon: s}
	if s == "" {
		p.canon = "0"
	}
	return p
}

func parseNumber(s string) (part, bool) { return number(s), true }

func between(low, high int) func(string) (part, bool) {
	return func(s string) (part, bool) {
		n, err := strconv.Atoi(s)
		return number(s), err == nil && low <= n && n <= high
	}
}

func parseDate(s string) (part, bool) {
	s = strings.ReplaceAll(s, "-", "")
	_, err := time.Parse("20060102", s)
	return part{key: s, canon: s}, err == nil
}

// dotted is the key of numbers between dots; zeros at the end do not count.
func dotted(s string) part {
	list := strings.Split(s, ".")
	for len(list) > 1 && strings.Trim(list[len(list)-1], "0") == "" {
		list = list[:len(list)-1]
	}
	var key strings.Builder
	for i, n := range list {
		one := number(n)
		key.WriteByte(1)
		key.WriteString(one.key)
		list[i] = one.canon
	}
	key.WriteByte(0)
	return part{key: key.String(), canon: strings.Join(list, ".")}
}

func parseDots(s string) (part, bool) { return dotted(s), true }

// atLeast adds the zeros that a pattern wants in the canonical form.
func atLeast(n int, canon string) string {
	for strings.Count(canon, ".") < n-1 {
		canon += ".0"
	}
	return canon
}

// parseLinux reads the kernel's 7.3-rc4, 7.3 and 7.3.1.
func parseLinux(s string) (part, bool) {
	release, rc, candidate := strings.Cut(s, "-rc")
	p := dotted(release)
	p.canon = atLeast(2, p.canon)
	if !candidate {
		p.key += "\xff"
		return p, true
	}
	n := number(rc)
	return part{p.key + "\x01" + n.key, p.canon + "-rc" + n.canon, Candidate}, true
}

var goRE = regexp.MustCompile(`^([0-9.]+)(?:(rc|beta)([0-9]+))?$`)

// parseGo reads Go's 1.27rc1, 1.27 (the same as 1.27.0) and 1.27.4.
func parseGo(s string) (part, bool) {
	m := goRE.FindStringSubmatch(s)
	if m == nil {
		return part{}, false
	}
	p := dotted(m[1])
	p.canon = atLeast(2, p.canon)
	n := number(m[3])
	switch m[2] {
	case "beta":
		return part{p.key + "\x01" + n.key, p.canon + "beta" + n.canon, Early}, true
	case "rc":
		return part{p.key + "\x02" + n.key, p.canon + "rc" + n.canon, Candidate}, true
	}
	p.key += "\xff"
	return p, true
}

// parseSemver reads a semantic version. Unlike the standard, digits inside an
// identifier count as a number: upstreams write rc9 and rc10 and mean it.
// Build metadata does not count.
func parseSemver(s string) (part, bool) {
	s, _, _ = strings.Cut(s, "+")
	release, pre, isPre := strings.Cut(s, "-")
	p := dotted(release)
	p.canon = atLeast(3, p.canon)
	if !isPre {
		p.key += "\xff"
		return p, true
	}
	p.key += "\x01"
	p.stage = Early
	if strings.HasPrefix(strings.ToLower(pre), "rc") {
		p.stage = Candidate
	}
	ids := strings.Split(pre, ".")
	for i, id := range ids {
		switch {
		case id == "":
			return part{}, false
		case strings.Trim(id, "0123456789") == "":
			n := number(id)
			p.key += "\x02" + n.key
			ids[i] = n.canon
		default:
			var n part
			n, ids[i] = natural(id), ""
			p.key += "\x03" + n.key
			ids[i] = n.canon
		}
	}
	p.key += "\x01"
	p.canon += "-" + strings.Join(ids, ".")
	return p, true
}

// natural is the key of text in which runs of digits are numbers, and come
// before any other character.
func natural(s string) part {
	var p part
	for s != "" {
		n := len(s) - len(strings.TrimLeft(s, "0123456789"))
		if n == 0 {
			p.key += s[:1]
			p.canon += s[:1]
			s = s[1:]
			continue
		}
		one := number(s[:n])
		p.key += "\x01" + one.key
		p.canon += one.canon
		s = s[n:]
	}
	p.key += "\x00"
	return p
}

// pep440 is the public part of a Python version, in the spellings that are
// allowed for it.
const pep440 = `([0-9]+!)?([0-9]+(\.[0-9]+)*)([-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?[0-9]*)?(-[0-9]+|[-_.]?(post|rev|r)[-_.]?[0-9]*)?([-_.]?dev[-_.]?[0-9]*)?`

var pep440RE = regexp.MustCompile("^" + pep440 + "$")

// parsePEP440 reads a Python version: 0.20.0rc1, 0.13.4.rc1, 1!2.0.post1.dev3.
func parsePEP440(s string) (part, bool) {
	m := pep440RE.FindStringSubmatch(s)
	if m == nil {
		return part{}, false
	}
	epoch, release := number(strings.TrimSuffix(m[1], "!")), dotted(m[2])
	p := part{key: epoch.key + release.key, canon: release.canon}
	if epoch.canon != "0" {
		p.canon = epoch.canon + "!" + p.canon
	}
	pre, post, dev := m[4], m[6], m[8]
	switch {
	case pre != "":
		letter := map[string]string{"alpha": "a", "a": "a", "beta": "b", "b": "b"}[m[5]]
		p.stage = Early
		if letter == "" {
			letter, p.stage = "rc", Candidate
		}
		n := number(trailing(pre))
		p.key += "\x02" + letter[:1] + n.key
		p.canon += letter + n.canon
	case post == "" && dev != "":
		p.key += "\x01"
	default:
		p.key += "\xff"
	}
	if post != "" {
		n := number(trailing(post))
		p.key += "\x02" + n.key
		p.canon += ".post" + n.canon
	} else {
		p.key += "\x01"
	}
	if dev != "" {
		n := number(trailing(dev))
		p.key += "\x01" + n.key
		p.canon += ".dev" + n.canon
		p.stage = Early
	} else {
		p.key += "\xff"
	}
	return p, true
}

// trailing returns the digits at the end of s.
func trailing(s string) string { return s[len(strings.TrimRight(s, "0123456789")):] }
