// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// WriteLock returns a pin file with lock as its lock. Everything else stays
// byte for byte; comments inside the old lock stay with the key below or before
// them. A file whose lock says the same already comes back unchanged. The lock
// is checked as a loaded one is: a wrong one is an error, never a file.
func WriteLock(file []byte, lock Lock) ([]byte, error) {
	t, err := parseText(file)
	if err != nil {
		return nil, err
	}
	want := lockText(&lock, nil)
	if !utf8.ValidString(want) {
		return nil, fmt.Errorf("the lock has a text that is not UTF-8")
	}
	t.pin.Lock = &lock
	c := &checker{file: "lock", line: func(string) int { return 1 }}
	c.lock(t.pin)
	if len(c.problems) > 0 {
		return nil, fmt.Errorf("the new lock is wrong: %s", c.problems[0].Text)
	}
	start, end, value, ok := t.find("lock")
	block := want
	if ok {
		if old, err := decodeLock(value); err == nil && lockText(old, nil) == want {
			return file, nil
		}
		block = lockText(&lock, t.comments(start, end, value))
	} else {
		start = t.place("lock")
		end = start
	}
	out, err := t.replace("lock", start, end, block)
	if err != nil {
		return nil, err
	}
	after, err := parseText(out)
	if err != nil || after.pin.Lock == nil || lockText(after.pin.Lock, nil) != want {
		return nil, fmt.Errorf("the lock does not read back as it was written: %v", err)
	}
	return out, nil
}

func decodeLock(n *yaml.Node) (*Lock, error) {
	d := &decoder{lines: map[string]int{}}
	l := &Lock{}
	d.decode(n, reflect.ValueOf(l).Elem(), "lock")
	return l, d.problems.sorted()
}

// notes are the comments inside a block.
type notes struct {
	head  string            // behind the key of the block itself
	above map[string]string // whole lines above a key
	after map[string]string // behind the value of a key
	tail  string            // whole lines at the end
}

// comments collects the comments in the lines of a block mapping.
func (t *text) comments(start, end int, value *yaml.Node) *notes {
	n := &notes{above: map[string]string{}, after: map[string]string{}}
	n.head = behindColon(t.lines[start])
	at := map[int]string{}
	if value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 {
		for i := 0; i < len(value.Content); i += 2 {
			k, v := value.Content[i], value.Content[i+1]
			at[k.Line-1] = k.Value
			switch {
			case v.Kind == yaml.ScalarNode || v.Style&yaml.FlowStyle != 0:
				n.after[k.Value] = v.LineComment
			default:
				n.after[k.Value] = behindColon(t.lines[k.Line-1])
			}
		}
	}
	for i := start + 1; i < end; i++ {
		if comment(t.lines[i]) {
			n.tail += "  " + strings.TrimLeft(t.lines[i], " ")
		} else if key := at[i]; key != "" {
			n.above[key], n.tail = n.tail, ""
		}
	}
	return n
}

// behindColon returns the comment of a line that is only a key.
func behindColon(line string) string {
	_, rest, _ := strings.Cut(line, ":")
	if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "#") {
		return rest
	}
	return ""
}

// lockText writes a lock as lines of YAML, with the comments of an old one.
func lockText(l *Lock, n *notes) string {
	if n == nil {
		n = &notes{}
	}
	var b strings.Builder
	b.WriteString(behind("lock:\n", n.head))
	list := entries(reflect.ValueOf(l).Elem(), "  ")
	here := map[string]bool{}
	for _, e := range list {
		here[e.key] = true
	}
	// what stood above a key that is gone moves to the next one that is there
	lost := ""
	above := map[string]string{}
	for _, key := range keysOf(reflect.TypeFor[Lock]()) {
		lost += n.above[key]
		if here[key] {
			above[key], lost = lost, ""
		}
	}
	for _, e := range list {
		b.WriteString(above[e.key])
		b.WriteString(behind(e.text, n.after[e.key]))
	}
	b.WriteString(lost)
	b.WriteString(n.tail)
	return b.String()
}

// behind puts a comment at the end of the first line of s.
func behind(s, comment string) string {
	if comment == "" {
		return s
	}
	first, rest, _ := strings.Cut(s, "\n")
	return first + " " + comment + "\n" + rest
}

// SetHold returns a pin file with the given hold.
func SetHold(file []byte, h Hold) ([]byte, error) {
	t, err := parseText(file)
	if err != nil {
		return nil, err
	}
	c := &checker{file: "hold", line: func(string) int { return 1 }}
	c.hold(&h)
	if len(c.problems) > 0 {
		return nil, verdict.Usagef("the hold is wrong: %s", c.problems[0].Text)
	}
	if t.pin.Hold != nil && *t.pin.Hold == h {
		return file, nil
	}
	start, end, _, ok := t.find("hold")
	if !ok {
		start = t.place("hold")
		end = start
	}
	line, _ := flow(reflect.ValueOf(h))
	return t.replace("hold", start, end, "hold: "+line+"\n")
}

// RemoveHold returns a pin file without its hold; without one, the file as it is.
func RemoveHold(file []byte) ([]byte, error) {
	t, err := parseText(file)
	if err != nil {
		return nil, err
	}
	start, end, _, ok := t.find("hold")
	if !ok {
		return file, nil
	}
	return t.replace("hold", start, end, "")
}

// AddReject returns a pin file with one more rejected version; if it is
// rejected already, the file as it is.
func AddReject(file []byte, r Reject) ([]byte, error) {
	t, err := parseText(file)
	if err != nil {
		return nil, err
	}
	c := &checker{file: "reject", line: func(string) int { return 1 }}
	c.id("reject", r.ID, t.pin.Track.Kind)
	c.oneLine("reject.why", r.Why, false)
	if len(c.problems) > 0 {
		return nil, fmt.Errorf("%s", c.problems[0].Text)
	}
	if _, ok := t.pin.Rejected(r.ID); ok {
		return file, nil
	}
	start, end, value, ok := t.find("reject")
	switch {
	case !ok:
		start = t.place("reject")
		return t.replace("reject", start, start, "reject:\n"+rejectText("  ", r))
	case value.Style&yaml.FlowStyle == 0:
		first := t.lines[value.Content[0].Line-1]
		indent := first[:len(first)-len(strings.TrimLeft(first, " "))]
		return t.replace("reject", end, end, rejectText(indent, r))
	}
	block := "reject:\n"
	if value.LineComment != "" {
		block = behind(block, value.LineComment)
	}
	for _, one := range append(t.pin.Reject, r) {
		block += rejectText("  ", one)
	}
	return t.replace("reject", start, end, block)
}

func rejectText(indent string, r Reject) string {
	if r.Why == "" {
		return indent + "- " + quote(r.ID) + "\n"
	}
	s, _ := flow(reflect.ValueOf(r))
	return indent + "- " + s + "\n"
}
