package embedding

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
	// on the machine where it ran, and GeometryFingerprint the part of it that does
	// not depend on decoders.
	Preprocess            *preprocess.Spec `json:"preprocess,omitempty"`
	PreprocessFingerprint string           `json:"preprocess_fingerprint"`
	GeometryFingerprint   string           `json:"geometry_fingerprint,omitempty"`
	// Probes are the features of the probe pictures, computed likewise.
	Probes Probes `json:"probes,omitempty"`
	// Dim is the number of values in an embedding.
	Dim int `json:"dimension"`
	// Text says what computed the embeddings of texts; nil if there are none.
	Text *TextSource `json:"text,omitempty"`
}

// A TextSource is the text side of a backbone.
type TextSource struct {
	SHA256    string   `json:"sha256"`
	Tokenizer string   `json:"tokenizer"` // its SHA-256
	Length    int      `json:"length"`    // tokens of a text
	Output    string   `json:"output"`
	Templates []string `json:"templates,omitempty"`
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
	if err := p.Probes.validate(p.Dim); err != nil {
		return err
	}
	if p.Preprocess != nil {
		return p.Preprocess.Validate()
	}
	return nil
}

// Compatible returns nil if embeddings of p may be mixed with those of other.
// Otherwise the error wraps ErrOtherBackbone or ErrOtherPreprocessing and names
// the difference; where describes other in messages ("in the model"). Settings
// that only choose hardware are ignored. Decoders may differ if the features of
// the probe pictures hardly do, see Note.
func (p Provenance) Compatible(other Provenance, where string) error {
	a, b := p.Backbone, other.Backbone
	switch {
	case p.Dim != 0 && other.Dim != 0 && p.Dim != other.Dim:
		return fmt.Errorf("%w: embeddings of %d dimensions and of %d %s", ErrOtherBackbone, p.Dim, other.Dim, where)
	case differ(a.SHA256, b.SHA256):
		return fmt.Errorf("%w: %s (SHA-256 %s) here, %s (SHA-256 %s) %s", ErrOtherBackbone, a.Name, a.SHA256, b.Name,
			b.SHA256, where)
	case p.otherExtractor(other):
		return fmt.Errorf("%w: the same file %s with other extractor settings (input, output, pooling or token): %s "+
			"here, %s %s",
			ErrOtherBackbone, b.Name, p.Extractor, other.Extractor, where)
	case !differ(p.PreprocessFingerprint, other.PreprocessFingerprint):
		return nil
	}
	return p.comparePixels(other, where)
}

// comparePixels compares preprocessings whose fingerprints differ.
func (p Provenance) comparePixels(other Provenance, where string) error {
	here, there := p.PreprocessFingerprint, other.PreprocessFingerprint
	if p.Preprocess == nil || other.Preprocess == nil {
		return fmt.Errorf("%w: fingerprints %.12s… here, %.12s… %s", ErrOtherPreprocessing, here, there, where)
	}
	a, b := *p.Preprocess, *other.Preprocess
	a.Decoder, b.Decoder = "", ""
	if fields := differences(a, b, where); len(fields) > 0 {
		return fmt.Errorf("%w: %s", ErrOtherPreprocessing, strings.Join(fields, ", "))
	}
	if differ(p.GeometryFingerprint, other.GeometryFingerprint) {
		return fmt.Errorf("%w: the settings are the same, but this version of pipeline resizes or converts pictures "+
			"differently: "+
			"use the same version everywhere, or train again", ErrOtherPreprocessing)
	}
	cosine, known := p.Probes.cosine(other.Probes)
	switch {
	case !known:
		return fmt.Errorf("%w: fingerprints %.12s… here, %.12s… %s: the settings are the same, but the decoders are "+
			"not (%s), and cannot be compared without the features of the probe pictures on both sides: "+
			"use the same decoder everywhere, or train again", ErrOtherPreprocessing, here, there, where,
			p.decoders(other, where))
	case !(cosine >= leastProbeCosine):
		return fmt.Errorf("%w: %s, and gives other features: mean cosine %.5f on the probe pictures, at least %.3f is "+
			"needed: "+
			"use the same decoder (preprocess.jpeg), or train again", ErrOtherPreprocessing,
			p.decoders(other, where), cosine, leastProbeCosine)
	}
	return nil
}

// Note describes how decoders differ if p is Compatible with other all the same;
// "" if nothing is known to differ.
func (p Provenance) Note(other Provenance, where string) string {
	if p.Preprocess == nil || other.Preprocess == nil || !differ(p.PreprocessFingerprint, other.PreprocessFingerprint) {
		return ""
	}
	cosine, known := p.Probes.cosine(other.Probes)
	if !known {
		return ""
	}
	return fmt.Sprintf("%s; features agree: mean cosine %.5f on the probe pictures", p.decoders(other, where), cosine)
}

// decoders describes the difference of the decoders.
func (p Provenance) decoders(other Provenance, where string) string {
	here, there := p.Preprocess.DecodedBy(), other.Preprocess.DecodedBy()
	if here == there {
		return fmt.Sprintf("the decoder of photos is %s in another version than %s", here, where)
	}
	return fmt.Sprintf("the decoder of photos is %s here, %s %s", here, there, where)
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
		p.PreprocessFingerprint, p.GeometryFingerprint, p.Probes = other.PreprocessFingerprint,
			other.GeometryFingerprint, other.Probes
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

// fields returns the JSON fields of a spec, also those that it leaves out.
func fields(s preprocess.Spec) map[string]json.RawMessage {
	out := map[string]json.RawMessage{"view": json.RawMessage(`"` + preprocess.ViewCrop + `"`),
		"heif_thumbnail": json.RawMessage("false")}
	if raw, err := json.Marshal(s); err == nil {
		_ = json.Unmarshal(raw, &out) // what Marshal wrote is JSON
	}
	return out
}
