// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// CleanMessage returns a commit's message in the form in which a patch keeps
// it: UTF-8, no blanks at the ends of lines, no blank lines at its ends, the
// first paragraph on one line as the subject, one newline at its end.
func CleanMessage(message, encoding string) (string, error) {
	text, err := toUTF8(message, encoding)
	if err != nil {
		return "", err
	}
	if strings.Contains(text, "\x00") {
		return "", errors.New("its message has a NUL byte")
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r\v\f")
	}
	text = strings.Trim(strings.Join(lines, "\n"), "\n")
	first, body, _ := strings.Cut(text, "\n\n")
	subject := strings.TrimSpace(strings.ReplaceAll(first, "\n", " "))
	if subject == "" {
		return "", errors.New("it has no message")
	}
	if body = strings.Trim(body, "\n"); body == "" {
		return subject + "\n", nil
	}
	return subject + "\n\n" + body + "\n", nil
}

// toUTF8 reads what old commits may be written in.
func toUTF8(s, encoding string) (string, error) {
	switch strings.ToLower(encoding) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		if !utf8.ValidString(s) {
			return "", errors.New("its message or author is not UTF-8")
		}
		return s, nil
	case "iso-8859-1", "iso8859-1", "latin1", "latin-1":
		runes := make([]rune, len(s))
		for i := range len(s) {
			runes[i] = rune(s[i])
		}
		return string(runes), nil
	}
	return "", errors.New("its message is in the encoding " + show(encoding))
}

// What ends a message for programs that read mails with patches: such a line
// gets a '>' in front, and one more where it has some already.
var endsMessage = []string{"---", "diff -", "Index: ", "From ", "From:", "Date:", "Subject:"}

func needsQuote(line string) bool {
	line = strings.TrimLeft(line, ">")
	for _, p := range endsMessage {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// quoteLine and unquoteLine keep the lines of a message apart from the patch.
func quoteLine(line string) string {
	if needsQuote(line) {
		return ">" + line
	}
	return line
}

func unquoteLine(line string) string {
	if strings.HasPrefix(line, ">") && needsQuote(line) {
		return line[1:]
	}
	return line
}
