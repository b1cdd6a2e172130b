package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/preprocess"
)

// Why embeddings must not be mixed, for errors.Is.
var (
	ErrOtherBackbone      = errors.New("another backbone")
	ErrOtherPreprocessing = errors.New("another preprocessing")
)

// Provenance records how embeddings were computed, as far as known: empty
// fields are unknown and not compared. For a foreign feature folder only Dim is
// known.
type Provenance struct {
	// ToolVersion is the version of the program that computed them.
	ToolVersion string   `json:"tool_version"`
	Backbone    Backbone `json:"backbone"`
	// ExtractorFingerprint covers the backbone and everything that changes its
	// values to the last bit, including hardware and library versions;
	// Extractor holds the settings as JSON.
	ExtractorFingerprint string          `json:"extractor_fingerprint"`
	Extractor            json.RawMessage `json:"extractor,omitempty"`
	// Preprocess produced the pixels; PreprocessFingerprint is its fingerprint
	// on the machine where it ran.
	Preprocess            *preprocess.Spec `json:"preprocess,omitempty"`
	PreprocessFingerprint string           `json:"preprocess_fingerprint"`
	// Dim is the number of values in an embedding.
	Dim int `json:"dimension"`
}

// Backbone identifies an ONNX file.
type Backbone struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	// Path is where the file was; it is only a hint.
	Path string `json:"path,omitempty"`
}

// Validate checks a Provenance read from a file.
func (p Provenance) Validate() error {
	if p.Dim < 0 {
		return fmt.Errorf("the dimension is %d", p.Dim)
	}
	if p.Preprocess != nil {
		return p.Preprocess.Validate()
	}
	return nil
}

// Compatible returns nil if embeddings of p may be mixed with those of other.
// Otherwise the error wraps ErrOtherBackbone or ErrOtherPreprocessing and names
// the difference; where describes other in messages ("in the model"). Settings
// that only choose hardware are ignored.
func (p Provenance) Compatible(other Provenance, where string) error {
	a, b := p.Backbone, other.Backbone
	switch {
	case p.Dim != 0 && other.Dim != 0 && p.Dim != other.Dim:
		return fmt.Errorf("%w: embeddings of %d dimensions and of %d %s", ErrOtherBackbone, p.Dim, other.Dim, where)
	case differ(a.SHA256, b.SHA256):
		return fmt.Errorf("%w: %s (SHA-256 %s) here, %s (SHA-256 %s) %s", ErrOtherBackbone, a.Name, a.SHA256, b.Name, b.SHA256, where)
	case p.otherExtractor(other):
		return fmt.Errorf("%w: the same file %s with other extractor settings (input, output, pooling or token): %s here, %s %s",
			ErrOtherBackbone, b.Name, p.Extractor, other.Extractor, where)
	case !differ(p.PreprocessFingerprint, other.PreprocessFingerprint):
		return nil
	}
	here, there := p.PreprocessFingerprint, other.PreprocessFingerprint
	if p.Preprocess == nil || other.Preprocess == nil {
		return fmt.Errorf("%w: fingerprints %.12s… here, %.12s… %s", ErrOtherPreprocessing, here, there, where)
	}
	if fields := differences(*p.Preprocess, *other.Preprocess, where); len(fields) > 0 {
		return fmt.Errorf("%w: %s", ErrOtherPreprocessing, strings.Join(fields, ", "))
	}
	return fmt.Errorf("%w: fingerprints %.12s… here, %.12s… %s: the settings are the same, but the decoders are not: "+
		"use the same build of pipeline everywhere, or train again", ErrOtherPreprocessing, here, there, where)
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }

// Adopt returns p with its unknown fields taken from other.
func (p Provenance) Adopt(other Provenance) Provenance {
	if p.Backbone.SHA256 == "" {
		p.Backbone, p.Extractor, p.ExtractorFingerprint = other.Backbone, other.Extractor, other.ExtractorFingerprint
	}
	if p.Preprocess == nil {
		p.Preprocess = other.Preprocess
	}
	if p.PreprocessFingerprint == "" {
		p.PreprocessFingerprint = other.PreprocessFingerprint
	}
	return p
}

// otherExtractor compares the settings, ignoring hardware, if both are known,
// and otherwise the fingerprints.
func (p Provenance) otherExtractor(other Provenance) bool {
	x, y := map[string]any{}, map[string]any{}
	if json.Unmarshal(p.Extractor, &x) != nil || json.Unmarshal(other.Extractor, &y) != nil {
		return differ(p.ExtractorFingerprint, other.ExtractorFingerprint)
	}
	for _, hardware := range []string{"provider", "batch"} {
		delete(x, hardware)
		delete(y, hardware)
	}
	return !reflect.DeepEqual(x, y)
}

// differences compares two specs by their JSON fields.
func differences(one, other preprocess.Spec, where string) []string {
	a, b := fields(one), fields(other)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !bytes.Equal(a[key], b[key]) {
			out = append(out, fmt.Sprintf("%s is %s here, %s %s", key, a[key], b[key], where))
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
