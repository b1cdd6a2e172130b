package classstats

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/preprocess"
)

// Why embeddings do not belong together, for errors.Is.
var (
	ErrOtherBackbone      = errors.New("another backbone")
	ErrOtherPreprocessing = errors.New("another preprocessing")
)

// A Hash is the SHA-256 of a sample's content: of the image file's bytes, or of
// the float32 bytes of a row without a file (see model.HashRow).
type Hash = [sha256.Size]byte

// A SampleID is one learned example.
type SampleID struct {
	Content Hash
	Class   string
}

// A Backbone is the extractor that made the embeddings.
type Backbone struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	// Path is where the file was at training time, a hint only.
	Path string `json:"path,omitempty"`
	Dim  int    `json:"dim"`
	// ExtractorFingerprint covers the file and every setting that changes
	// values; Extractor is those settings as JSON.
	ExtractorFingerprint string          `json:"extractor_fingerprint"`
	Extractor            json.RawMessage `json:"extractor,omitempty"`
}

// Differ reports whether two values are both known and not the same.
func Differ(a, b string) bool { return a != "" && b != "" && a != b }

// Differences compares two specs by their JSON fields.
func Differences(one, other preprocess.Spec, where, elsewhere string) []string {
	a, b := fields(one), fields(other)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !bytes.Equal(a[key], b[key]) {
			out = append(out, fmt.Sprintf("%s is %s %s, %s %s", key, a[key], where, b[key], elsewhere))
		}
	}
	return out
}

func fields(s preprocess.Spec) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if raw, err := json.Marshal(s); err == nil {
		_ = json.Unmarshal(raw, &out) // what Marshal wrote is JSON
	}
	if s.JPEG == "" { // left out of the JSON
		out["jpeg"] = json.RawMessage(`"go"`)
	}
	return out
}
