package model

import (
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// Why embeddings do not belong to a model, for errors.Is.
var (
	ErrOtherBackbone      = classstats.ErrOtherBackbone
	ErrOtherPreprocessing = classstats.ErrOtherPreprocessing
)

// A Source says where embeddings come from, as far as that is known: empty
// fields are not compared. A foreign FEATDIR only knows its Dim.
type Source struct {
	BackboneSHA256        string
	ExtractorFingerprint  string
	Preprocess            *preprocess.Spec
	PreprocessFingerprint string
	Dim                   int
}

// CheckBackbone says whether embeddings from s may be mixed with the model's.
// The error wraps ErrOtherBackbone or ErrOtherPreprocessing and names what
// differs. A model that knows no backbone only compares the dimension.
func (m *Model) CheckBackbone(s Source) error {
	if s.Dim != 0 && s.Dim != m.Dim() {
		return fmt.Errorf("%w: embeddings of %d dimensions, the model has %d", ErrOtherBackbone, s.Dim, m.Dim())
	}
	if b := m.Backbone; b != nil {
		if classstats.Differ(s.BackboneSHA256, b.SHA256) {
			return fmt.Errorf("%w: its SHA-256 is %s, the model was trained with %s (%s)", ErrOtherBackbone, s.BackboneSHA256, b.SHA256, b.Name)
		}
		if classstats.Differ(s.ExtractorFingerprint, b.ExtractorFingerprint) {
			return fmt.Errorf("%w: the same file %s with other extractor settings (input, output, pooling, token or provider); the model's are %s",
				ErrOtherBackbone, b.Name, b.Extractor)
		}
	}
	return m.checkPreprocess(s)
}

func (m *Model) checkPreprocess(s Source) error {
	if !classstats.Differ(s.PreprocessFingerprint, m.PreprocessFingerprint) {
		return nil
	}
	if s.Preprocess != nil && m.Preprocess != nil {
		if fields := classstats.Differences(*s.Preprocess, *m.Preprocess, "here", "in the model"); len(fields) > 0 {
			return fmt.Errorf("%w: %s", ErrOtherPreprocessing, strings.Join(fields, ", "))
		}
		return fmt.Errorf("%w: the settings are the same, but the decoders are not (fingerprint %.12s… here, %.12s… in the model): "+
			"use the build of pipeline that trained the model, or train again", ErrOtherPreprocessing, s.PreprocessFingerprint, m.PreprocessFingerprint)
	}
	return fmt.Errorf("%w: fingerprint %.12s… here, %.12s… in the model", ErrOtherPreprocessing, s.PreprocessFingerprint, m.PreprocessFingerprint)
}
