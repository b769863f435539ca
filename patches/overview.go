// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// An Overview is what one look at a stack's files tells. Its texts are inert.
type Overview struct {
	Name    string `json:"name"`
	Pin     string `json:"pin,omitempty"`
	Base    git.ID `json:"base,omitempty"`
	Patches []Card `json:"patches"`
	Error   string `json:"error,omitempty"` // the files cannot be read
}

// A Card is one patch in few words.
type Card struct {
	File    string    `json:"file"`
	Subject string    `json:"subject"`
	Author  string    `json:"author"`
	Date    time.Time `json:"date"`
	Status  string    `json:"status,omitempty"` // as stated; empty when it is not
	Paths   []string  `json:"paths"`
	Added   int       `json:"added"`   // lines
	Removed int       `json:"removed"` // lines
	Binary  bool      `json:"binary,omitempty"`
}

// Look returns the overview of a stack. An error in the files is in it.
func (r *Repository) Look(name string) (*Overview, *Stack) {
	o := &Overview{Name: name, Patches: []Card{}}
	if pin := r.PinOf(name); pin != nil {
		o.Pin = pin.Name
	}
	s, err := r.Load(name)
	if err != nil {
		o.Error = err.Error()
		return o, nil
	}
	o.Base = s.Base
	for _, p := range s.Patches {
		o.Patches = append(o.Patches, cardOf(p))
	}
	return o, s
}

func cardOf(p *Patch) Card {
	c := Card{File: p.File, Subject: inert.Line(p.Subject(), 120), Author: inert.Line(p.Author.Name, 80), Date: p.Author.When}
	if s, err := p.Status(); err == nil {
		c.Status = inert.Line(s.String(), 200)
	}
	for _, path := range p.Paths() {
		c.Paths = append(c.Paths, inert.Line(path, 300))
	}
	for _, change := range p.Changes {
		c.Binary = c.Binary || change.IsBinary
		for _, h := range change.Hunks {
			for _, l := range h.Lines {
				switch l[0] {
				case '+':
					c.Added++
				case '-':
					c.Removed++
				}
			}
		}
	}
	return c
}
