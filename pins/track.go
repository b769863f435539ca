// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import "time"

// A Kind says how the newest version of an upstream is found.
type Kind string

// The kinds of track.
const (
	GitBranch     Kind = "git-branch"     // the tip of a branch
	GitTag        Kind = "git-tag"        // the newest tag by the schemes
	GithubRelease Kind = "github-release" // a published release, with assets or its source
	Gitlink       Kind = "gitlink"        // the submodule of an integration repository
	Field         Kind = "field"          // a value in a file of another pin or repository
	Index         Kind = "index"          // a machine-readable list of files
	HuggingFace   Kind = "huggingface"    // files of a model repository
	GoModule      Kind = "go-module"      // a module, by the ordinary go client
	Deb           Kind = "deb"            // Debian packages
	OCI           Kind = "oci"            // an image, by digest
	Manual        Kind = "manual"         // moved by a person, with the reason
)

// A Track says how the newest version of a pin is found. Which fields apply
// depends on Kind; a file that sets others is refused.
type Track struct {
	Kind Kind `yaml:"kind" json:"kind"`

	Branch string `yaml:"branch" json:"branch,omitempty"` // git-branch; gitlink and field with a repository

	Schemes    []Scheme   `yaml:"schemes" json:"schemes,omitempty"` // in order: a later one is newer
	Ignore     []string   `yaml:"ignore" json:"ignore,omitempty"`   // globs of tags that are no versions
	Prerelease Prerelease `yaml:"prerelease" json:"prerelease,omitempty"`

	Newest Newest   `yaml:"newest" json:"newest,omitempty"` // github-release
	Assets []string `yaml:"assets" json:"assets,omitempty"` // github-release: globs; none: its source

	Of          string   `yaml:"of" json:"of,omitempty"`     // gitlink, field: a pin, or the https address of a repository
	Path        string   `yaml:"path" json:"path,omitempty"` // gitlink: the submodule; field: the file
	AllowedURLs []string `yaml:"allowed-urls" json:"allowed-urls,omitempty"`
	Key         string   `yaml:"key" json:"key,omitempty"` // field: names in the file, dots between them

	URL         string      `yaml:"url" json:"url,omitempty"`
	Format      IndexFormat `yaml:"format" json:"format,omitempty"`
	Select      string      `yaml:"select" json:"select,omitempty"`
	Platforms   []string    `yaml:"platforms" json:"platforms,omitempty"`
	MutableName bool        `yaml:"mutable-name" json:"mutable-name,omitempty"`
	Files       *FileIndex  `yaml:"files" json:"files,omitempty"` // field: where the files of that version are listed

	Repo     string   `yaml:"repo" json:"repo,omitempty"`         // huggingface: owner/name
	Revision string   `yaml:"revision" json:"revision,omitempty"` // huggingface: the branch, main where none is given
	Include  []string `yaml:"include" json:"include,omitempty"`   // huggingface: globs
	Exclude  []string `yaml:"exclude" json:"exclude,omitempty"`   // huggingface: globs

	Module   string `yaml:"module" json:"module,omitempty"`     // go-module
	Platform string `yaml:"platform" json:"platform,omitempty"` // go-module, deb, oci: as linux-amd64

	Packages []string `yaml:"packages" json:"packages,omitempty"` // deb
	Suite    string   `yaml:"suite" json:"suite,omitempty"`       // deb: a code name
	Pocket   Pocket   `yaml:"pocket" json:"pocket,omitempty"`     // deb

	Image string `yaml:"image" json:"image,omitempty"` // oci: host/name
	Tag   string `yaml:"tag" json:"tag,omitempty"`     // oci

	Reason string `yaml:"reason" json:"reason,omitempty"` // manual: why nothing follows it

	MinAge time.Duration `yaml:"min-age" json:"min-age,omitempty"` // since we first saw that version
	Every  Every         `yaml:"every" json:"every,omitempty"`
}

// A FileIndex is where the files of a version are listed with their sums.
// {version} in URL and Select stands for the version.
type FileIndex struct {
	URL         string      `yaml:"url" json:"url"`
	Format      IndexFormat `yaml:"format" json:"format"`
	Select      string      `yaml:"select" json:"select,omitempty"`
	Platforms   []string    `yaml:"platforms" json:"platforms,omitempty"`
	MutableName bool        `yaml:"mutable-name" json:"mutable-name,omitempty"`
}

// Index returns where the files of the pin are listed: the track itself for
// the kind index, its files for the kind field; nil for others.
func (t *Track) Index() *FileIndex {
	if t.Kind == Index {
		return &FileIndex{URL: t.URL, Format: t.Format, Select: t.Select, Platforms: t.Platforms, MutableName: t.MutableName}
	}
	return t.Files
}

// OfPin returns the name of the pin that the track reads from, if it is a pin
// and not the address of a repository.
func (t *Track) OfPin() string {
	if nameRE.MatchString(t.Of) {
		return t.Of
	}
	return ""
}

// A Scheme is one way in which an upstream writes its versions.
type Scheme struct {
	Pattern string `yaml:"pattern" json:"pattern"`       // text with placeholders, as v{semver}
	Since   string `yaml:"since" json:"since,omitempty"` // an older tag of this scheme is outside
}

// A Prerelease says which versions before a release count.
type Prerelease string

// What Prerelease can be; empty is PrereleaseNo.
const (
	PrereleaseNo            Prerelease = "no"             // releases only
	PrereleaseYes           Prerelease = "yes"            // all, in order
	PrereleaseBeforeRelease Prerelease = "before-release" // release candidates, no earlier stage
)

// A Newest says which release of a github-release track is the newest.
type Newest string

// What Newest can be.
const (
	NewestLatest  Newest = "latest"  // the one that the API flags as latest
	NewestHighest Newest = "highest" // the highest version by the schemes
)

// An IndexFormat is how an index is written.
type IndexFormat string

// The formats of an index.
const (
	FormatJSON   IndexFormat = "json"
	FormatPEP503 IndexFormat = "pep503"
	FormatS3     IndexFormat = "s3"
	FormatTOML   IndexFormat = "toml"
)

// A Pocket is a part of a Debian suite.
type Pocket string

// The pockets of a suite.
const (
	PocketRelease   Pocket = "release"
	PocketUpdates   Pocket = "updates"
	PocketSecurity  Pocket = "security"
	PocketBackports Pocket = "backports"
)

// An Every says how often a pin or group is looked at.
type Every string

// What Every can be; empty is EveryDay, and for a manual track EveryNever.
const (
	EveryDay   Every = "day"
	EveryWeek  Every = "week"
	EveryMonth Every = "month"
	EveryNever Every = "never"
)
