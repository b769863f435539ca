// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"
)

// Extension ends the name of every patch file.
const Extension = ".patch"

// maxName is the most that a name has of its subject, in bytes; a suffix such
// as -2 and the extension come on top.
const maxName = 60

// folded is what letters with a mark become; other characters beyond ASCII
// count as a separator.
var folded = func() *strings.Replacer {
	var pairs []string
	for plain, marked := range map[string]string{
		"a": "àáâãåāăąǎÀÁÂÃÅĀĂĄǍ", "ae": "äæÄÆ", "c": "çćĉċčÇĆĈĊČ", "d": "ďđðĎĐÐ", "e": "èéêëēĕėęěÈÉÊËĒĔĖĘĚ",
		"g": "ĝğġģĜĞĠĢ", "h": "ĥħĤĦ", "i": "ìíîïĩīĭįıÌÍÎÏĨĪĬĮİ", "j": "ĵĴ", "k": "ķĶ", "l": "ĺļľŀłĹĻĽĿŁ",
		"n": "ñńņňÑŃŅŇ", "o": "òóôõøōŏőÒÓÔÕØŌŎŐ", "oe": "öœÖŒ", "r": "ŕŗřŔŖŘ", "s": "śŝşšșŚŜŞŠȘ", "ss": "ßẞ",
		"t": "ţťŧțŢŤŦȚ", "th": "þÞ", "u": "ùúûũūŭůűųÙÚÛŨŪŬŮŰŲ", "ue": "üÜ", "w": "ŵŴ", "y": "ýÿŷÝŸŶ", "z": "źżžŹŻŽ",
	} {
		for _, r := range marked {
			pairs = append(pairs, string(r), plain)
		}
	}
	return strings.NewReplacer(pairs...)
}()

// stem is a subject as a file name: lower-case letters, digits, dots and
// underscores, with one '-' for everything between them.
func stem(subject string) string {
	var b strings.Builder
	gap := false
	for _, r := range folded.Replace(subject) {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		ok := r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_'
		// A dot only between letters or digits, as in v1.0: no "..", nothing
		// hidden.
		if r == '.' && b.Len() > 0 && !gap && !strings.HasSuffix(b.String(), ".") {
			ok = true
		}
		if !ok {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	name := b.String()
	if len(name) > maxName {
		name = name[:maxName]
	}
	if name = strings.Trim(strings.ReplaceAll(name, ".-", "-"), "-."); name == "" {
		return "patch"
	}
	return name
}

// FileNames returns the file name of each patch of a stack, made of its
// subject. Where two agree, the later one gets the suffix -2, -3, and so on.
func FileNames(subjects []string) []string {
	taken := map[string]bool{}
	names := make([]string, len(subjects))
	for i, subject := range subjects {
		s := stem(subject)
		name := s
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", s, n)
		}
		taken[name] = true
		names[i] = name + Extension
	}
	return names
}

// setNames gives every patch the name that its subject has in this stack.
func setNames(list []*Patch) {
	subjects := make([]string, len(list))
	for i, p := range list {
		subjects[i] = p.Subject()
	}
	for i, name := range FileNames(subjects) {
		list[i].File = name
	}
}
