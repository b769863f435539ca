// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A model is a repository of models, with its newest commit.
type model struct {
	*site
	e    *Engine
	tree []string // entries as the API has them
}

const modelAPI = "/huggingface.co/api/models/acme/model"

func newModel(t *testing.T) *model {
	s := newSite(t)
	return &model{site: s, e: newKinds(t, s, "huggingface.co")}
}

func commitID(n int) string { return strings.Repeat(fmt.Sprintf("%x", n%15+1), 40) }

// file adds one, in LFS where lfs is set.
func (m *model) file(n int, name, content string, lfs bool) {
	m.put("/huggingface.co/acme/model/resolve/"+commitID(n)+"/"+strings.ReplaceAll(name, " ", "%20"), content)
	if lfs {
		m.tree = append(m.tree, fmt.Sprintf(`{"type":"file","oid":"%040x","size":%d,"path":%q,"lfs":{"oid":%q,"size":%d,"pointerSize":130}}`, 7, len(content), name, sha(content), len(content)))
		return
	}
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	m.tree = append(m.tree, fmt.Sprintf(`{"type":"file","oid":%q,"size":%d,"path":%q}`, hex.EncodeToString(sum[:]), len(content), name))
}

// publish makes commit n the newest, its files on two pages.
func (m *model) publish(n int) {
	id := commitID(n)
	m.put(modelAPI+"/revision/main", fmt.Sprintf(`{"id":"Acme/Model","sha":%q,"lastModified":"2026-10-02T08:00:00.000Z","siblings":[]}`, id))
	first := modelAPI + "/tree/" + id + "?recursive=true"
	half := len(m.tree) / 2
	pages := []string{"[" + strings.Join(m.tree[:half], ",") + "]", "[" + strings.Join(m.tree[half:], ",") + "]"}
	m.answer(first, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", `<https://elsewhere.example/api/x?recursive=true&cursor=abc%3D>; rel="next"`)
		fmt.Fprint(w, pages[0])
	})
	m.put(first+"&cursor=abc%3D", pages[1])
}

func modelPin() *pins.Pin {
	return &pins.Pin{Name: "model", Track: pins.Track{Kind: pins.HuggingFace, Repo: "acme/model", Include: []string{"*.json", "weights/**"}, Exclude: []string{"weights/old/**"}}}
}

func TestHuggingFace(t *testing.T) {
	m := newModel(t)
	add := func(n int, config string) {
		m.tree = nil
		m.file(n, "config.json", config, false)
		m.file(n, "README.md", fmt.Sprint("read me ", n), false)
		m.file(n, "weights/a b.safetensors", "weights!", true)
		m.file(n, "weights/old/a.bin", "old", true)
		m.publish(n)
	}
	add(1, "{}")
	p := modelPin()
	entries := locked(t, m.e, p)
	l := p.Lock
	if len(entries) != 2 || l.Commit != commitID(1) || l.Files[0].Name != "config.json" || l.Files[1].Name != "weights/a b.safetensors" ||
		l.Files[0].SHA256 != sha("{}") || l.Files[1].Size != 8 || l.ViaMirror == nil || l.Date.IsZero() {
		t.Fatalf("%+v", l)
	}
	// Only the text changed, which the pin does not take: no bump.
	add(2, "{}")
	again, err := update(t, m.e, p)
	if err != nil || again.Commit != commitID(1) {
		t.Errorf("a new README moved the pin: %+v, %v", again, err)
	}
	add(3, `{"layers":2}`)
	again, err = update(t, m.e, p)
	if err != nil || again.Commit != commitID(3) || again.Files[0].SHA256 != sha(`{"layers":2}`) {
		t.Errorf("%+v, %v", again, err)
	}
	if c, err := (huggingFaceKind{}).find(t.Context(), m.e, p, "main"); err != nil || c.id() != commitID(3) {
		t.Errorf("find: %+v, %v", c, err)
	}
}

func TestHuggingFaceBadAnswers(t *testing.T) {
	id := commitID(1)
	tests := []struct {
		name  string
		spoil func(*model)
		want  verdict.Verdict
		words []string
	}{
		{"renamed", func(m *model) { m.put(modelAPI+"/revision/main", `{"id":"acme/other","sha":"`+id+`"}`) }, verdict.Fail, []string{"renamed", "acme/other"}},
		{"no commit", func(m *model) { m.put(modelAPI+"/revision/main", `{"id":"acme/model","sha":"main"}`) }, verdict.Fail, []string{"no commit"}},
		{"no revision", func(m *model) { delete(m.files, modelAPI+"/revision/main") }, verdict.Fail, []string{"no revision main"}},
		{"gated", func(m *model) {
			m.answer(modelAPI+"/revision/main", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
		}, verdict.Infra, []string{"HF_TOKEN"}},
		{"limited", func(m *model) {
			m.answer(modelAPI+"/revision/main", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) })
		}, verdict.Infra, []string{"limits"}},
		{"nothing left", func(m *model) {
			m.tree = []string{`{"type":"directory","path":"weights","oid":"` + id + `","size":0}`}
			m.publish(1)
		}, verdict.Fail, []string{"track.include"}},
		{"path that leaves", func(m *model) { m.tree = nil; m.file(1, "weights/../../x", "x", true); m.publish(1) }, verdict.Fail, []string{"no path"}},
		{"twice", func(m *model) { m.file(1, "config.json", "{}", false); m.publish(1) }, verdict.Fail, []string{"twice"}},
		{"bad sum", func(m *model) {
			m.tree = []string{`{"type":"file","path":"weights/a","size":1,"oid":"x","lfs":{"oid":"zz","size":1}}`}
			m.publish(1)
		}, verdict.Fail, []string{"no sha256"}},
		// huggingface/huggingface_hub#3643, dagger/dagger#13154
		{"LFS pointer", func(m *model) {
			m.put("/huggingface.co/acme/model/resolve/"+id+"/weights/a", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
		}, verdict.Fail, []string{"LFS pointer"}},
		{"pointer as a blob", func(m *model) {
			m.file(1, "weights/p", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", false)
			m.publish(1)
		}, verdict.Fail, []string{"LFS pointer"}},
		{"other blob", func(m *model) { m.put("/huggingface.co/acme/model/resolve/"+id+"/config.json", "[]") }, verdict.Fail, []string{"sum"}},
		{"other weights", func(m *model) { m.put("/huggingface.co/acme/model/resolve/"+id+"/weights/a", "WEIGHTS") }, verdict.Fail, []string{sha("weights")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel(t)
			m.file(1, "config.json", "{}", false)
			m.file(1, "weights/a", "weights", true)
			m.publish(1)
			tt.spoil(m)
			_, err := update(t, m.e, modelPin())
			wantError(t, err, tt.want, tt.words...)
		})
	}
}
