// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/treesum"
)

// The media types of an output in a registry.
const (
	ArtifactType = "application/vnd.1bit.output.v1"
	RecordType   = "application/vnd.1bit.output.record.v1+json"             // of what the envelope holds
	envelopeType = types.MediaType("application/vnd.dsse.envelope.v1+json") // of the config
	contentType  = types.MediaType("application/vnd.1bit.output.content.v1.tar+zstd")
)

// A Record says what an output is. Its JSON is what is signed.
type Record struct {
	Schema  int       `json:"schema"` // 1
	Key     store.Key `json:"key"`
	Recipe  string    `json:"recipe"`
	Sum     string    `json:"sum"`   // t1: of the files
	Files   int       `json:"files"` // files and symbolic links
	Size    int64     `json:"size"`  // bytes of all files, a link's being those of its target
	Archive Archive   `json:"archive"`
}

// Archive is the layer.
type Archive struct {
	Digest string `json:"digest"` // sha256:<64 hex digits>
	Size   int64  `json:"size"`   // bytes
}

// Limits of what is taken, whoever signed it.
const (
	maxManifest   = 64 << 10
	maxEnvelope   = 64 << 10
	maxSignatures = 16
	maxBytes      = 16 << 30 // of an archive, and of the files in it
	maxFiles      = 1 << 18
	maxRatio      = 250 // of files to archive, once they are more than ratioFrom
	ratioFrom     = 32 << 20
)

// wrong is an entry that is not what it should be; the registry may be well.
type wrong struct{ what string }

func (e *wrong) Error() string { return e.what }

func wrongf(format string, args ...any) error { return &wrong{fmt.Sprintf(format, args...)} }

// check says what is wrong with a record as that of an output.
func (r *Record) check(key store.Key, recipe string) error {
	switch {
	case r.Schema != 1:
		return wrongf("its record has the schema %d, which this program does not know", r.Schema)
	case r.Key != key:
		return wrongf("its record is that of another key")
	case r.Recipe != recipe:
		return wrongf("its record is that of another component")
	case !treesum.Valid(r.Sum):
		return wrongf("its record has no sum")
	case r.Files < 1 || r.Files > maxFiles || r.Size < 0 || r.Size > maxBytes || r.Archive.Size < 1 || r.Archive.Size > maxBytes:
		return wrongf("its record states a size beyond the limits")
	case r.Size > ratioFrom && r.Size/maxRatio > r.Archive.Size:
		return wrongf("its record states that it unpacks to more than %d times its size", maxRatio)
	}
	return nil
}

// layerOf returns config and content of a manifest.
func layerOf(mediaType types.MediaType, raw []byte) (config, content v1.Descriptor, err error) {
	bad := func(what string) (v1.Descriptor, v1.Descriptor, error) {
		return config, content, wrongf("its manifest is none of an output: %s", what)
	}
	if len(raw) > maxManifest {
		return bad("it is too large")
	}
	if mediaType != types.OCIManifestSchema1 {
		return bad("its media type is another")
	}
	m, err := v1.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		return bad("it cannot be read")
	}
	switch {
	case m.MediaType != types.OCIManifestSchema1 || m.ArtifactType != ArtifactType:
		return bad("its artifact type is another")
	case m.Config.MediaType != envelopeType || m.Config.Digest.Algorithm != "sha256" || m.Config.Size < 1 || m.Config.Size > maxEnvelope:
		return bad("its config is no envelope")
	case len(m.Layers) != 1 || m.Layers[0].MediaType != contentType || m.Layers[0].Digest.Algorithm != "sha256":
		return bad("it has other layers")
	case m.Layers[0].Size < 1 || m.Layers[0].Size > maxBytes:
		return bad("its layer has a size beyond the limits")
	}
	return m.Config, m.Layers[0], nil
}

// seal puts a record into a DSSE envelope, signed where there is a signer.
func seal(r *Record, s *Signer) ([]byte, error) {
	payload, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	e := dsse.Envelope{PayloadType: RecordType, Payload: base64.StdEncoding.EncodeToString(payload), Signatures: []dsse.Signature{}}
	if s != nil {
		e.Signatures = append(e.Signatures, s.sign(payload))
	}
	return json.Marshal(e)
}

// open returns the record of an envelope and the bytes that are signed.
func open(data []byte) (*Record, *dsse.Envelope, []byte, error) {
	var e dsse.Envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, nil, nil, wrongf("its envelope cannot be read")
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil || e.PayloadType != RecordType || len(e.Signatures) > maxSignatures {
		return nil, nil, nil, wrongf("its envelope is none of a record")
	}
	var r Record
	if err := json.Unmarshal(payload, &r); err != nil {
		return nil, nil, nil, wrongf("its record cannot be read")
	}
	return &r, &e, payload, nil
}
