// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

// A Group is pins that move together: they are resolved at one moment, and
// that set is proposed whole.
type Group struct {
	Name      string     `yaml:"name" json:"name"`
	Members   []string   `yaml:"members" json:"members"`
	Order     int        `yaml:"order" json:"order,omitempty"` // groups with a lower number are worked on first
	Every     Every      `yaml:"every" json:"every,omitempty"`
	Split     Split      `yaml:"split" json:"split,omitempty"`
	Contracts []Contract `yaml:"contracts" json:"contracts,omitempty"`

	file, path string
	lines      map[string]int
}

// A Split says whether a part of a group may be proposed when the whole
// cannot move.
type Split string

// What Split can be; empty is SplitNo.
const (
	SplitNo      Split = "no"
	SplitAllowed Split = "allowed" // as a round marked mixed, through all gates, as a draft
)

// A Contract holds two members together: every identifier that matches the
// pattern in the user's files must occur, as a whole identifier, in the
// provider's.
type Contract struct {
	User     ContractUser     `yaml:"user" json:"user"`
	Provider ContractProvider `yaml:"provider" json:"provider"`
}

// A ContractUser is the half that needs identifiers.
type ContractUser struct {
	Pin     string   `yaml:"pin" json:"pin"`
	Files   []string `yaml:"files" json:"files"` // globs; ** stands for any folders
	Pattern string   `yaml:"pattern" json:"pattern"`
}

// A ContractProvider is the half that declares them.
type ContractProvider struct {
	Pin   string   `yaml:"pin" json:"pin"`
	Files []string `yaml:"files" json:"files"`
}
