// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/1bit-MONSTER/engine/engine/child"
	"github.com/1bit-MONSTER/engine/engine/route"
)

// Times of the classifier, and the longest line that it may answer.
const (
	scorerStart  = 300 * time.Second
	scorerAnswer = 30 * time.Second
	scorerLine   = 1 << 20
)

// A scorer is Laya's daemon: one JSON object a line in, one out, one at a time.
type scorer struct {
	proc  *child.Child
	in    *os.File
	lines chan []byte
	turn  chan struct{} // held by who asks
}

// startScorer starts the daemon and waits for its line with status "ready".
func startScorer(ctx context.Context, s *route.Scorer, log io.Writer) (*scorer, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, err
	}
	proc, err := child.Start(child.Command{Path: s.Program, Args: s.Args, Env: environ(), Log: log, Stdin: inR, Stdout: outW})
	inR.Close() // theirs now: our copies would hide the end of the daemon
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, fmt.Errorf("laya: %w", err)
	}
	sc := &scorer{proc: proc, in: inW, lines: make(chan []byte), turn: make(chan struct{}, 1)}
	go sc.read(outR)
	limit, cancel := context.WithTimeout(ctx, scorerStart)
	defer cancel()
	line, err := sc.line(limit)
	var first struct{ Status string }
	if err == nil && (json.Unmarshal(line, &first) != nil || first.Status != "ready") {
		err = fmt.Errorf("it began with %q, not with the status ready", line)
	}
	if err != nil {
		sc.close()
		return nil, fmt.Errorf("laya: %s: %w", s.Program, err)
	}
	return sc, nil
}

// read passes on the lines that the daemon writes.
func (s *scorer) read(out *os.File) {
	defer close(s.lines)
	defer out.Close()
	in := bufio.NewScanner(out)
	in.Buffer(nil, scorerLine)
	for in.Scan() {
		select {
		case s.lines <- append([]byte(nil), in.Bytes()...):
		case <-s.proc.Done():
			return
		}
	}
}

func (s *scorer) line(ctx context.Context) ([]byte, error) {
	select {
	case line, ok := <-s.lines:
		if !ok {
			return nil, errors.New("it ended")
		}
		return line, nil
	case <-ctx.Done():
		return nil, errors.New("it did not answer in time")
	}
}

// criteria are the classes among which the daemon chooses.
var criteria = map[string]string{
	route.Code:  "The user asks for program code, or about it.",
	route.Prose: "The user asks for a text of several sentences.",
	route.Short: "A word, a number or one sentence is enough as an answer.",
}

// classify asks for the class of a text.
func (s *scorer) classify(ctx context.Context, text string) (string, float64, error) {
	ctx, cancel := context.WithTimeout(ctx, scorerAnswer)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", 0, errors.New("it did not answer in time")
	}
	question, err := json.Marshal(map[string]any{
		"state": text,
		"questions": map[string]any{"cls": map[string]any{
			"type": "choice", "instructions": "Which kind of answer does the user want?", "criteria": criteria,
		}},
	})
	if err != nil {
		return "", 0, err
	}
	if _, err := s.in.Write(append(question, '\n')); err != nil {
		return "", 0, errors.New("it ended")
	}
	line, err := s.line(ctx)
	if err != nil {
		s.proc.Stop(0) // its next line would be the answer to this question
		return "", 0, err
	}
	var reply struct {
		Answers struct {
			Cls struct {
				Choice     string
				Confidence float64
			}
		}
	}
	if err := json.Unmarshal(line, &reply); err != nil || criteria[reply.Answers.Cls.Choice] == "" {
		return "", 0, fmt.Errorf("it answered %.100q", line)
	}
	return reply.Answers.Cls.Choice, reply.Answers.Cls.Confidence, nil
}

// close ends the daemon.
func (s *scorer) close() {
	s.in.Close()
	s.proc.Stop(stopGrace)
}
