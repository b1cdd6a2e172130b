package model

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/heads"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// Settings says how to train a model.
type Settings struct {
	// Method is one of heads.Methods, Heads the settings of all of them.
	Method string
	Heads  heads.Config
	// Backbone made the embeddings, nil when unknown.
	Backbone *Backbone
	// Preprocess made the pixels, nil when unknown. PreprocessFingerprint is
	// that of the machine that made them; "" takes Preprocess's own here.
	Preprocess            *preprocess.Spec
	PreprocessFingerprint string
	// Seed chooses the folds of the calibration.
	Seed        uint64
	ToolVersion string
	// WithoutStatistics leaves the side file away: a smaller model whose
	// classes cannot take or lose examples with methods that need it.
	WithoutStatistics bool
	// WithoutCalibration trains once instead of six times; the model then
	// has no rejection threshold.
	WithoutCalibration bool
}

// Train learns a base session and calibrates the rejection threshold on it.
// The same settings and batch give the same model, byte for byte when saved.
// Cost: one fit, and five of four fifths of the data for the calibration.
func Train(ctx context.Context, s Settings, b Batch) (*Model, Outcome, error) {
	o, err := s.origin()
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train: %w", err)
	}
	create := func() (classifier.Learner, error) { return heads.New(s.Method, s.Heads) }
	return train(ctx, o, create, b)
}

// Load reads a MODEL file and checks all of it. The error wraps ErrNotModel,
// ErrNewerVersion, ErrTooShort or ErrAltered when that is what is wrong, and
// names MODEL.prev where that could help. The statistics side file is not read
// before an operation needs it; without it the model still predicts.
func Load(path string) (*Model, error) { return load(path, heads.Load) }

func (s Settings) origin() (origin, error) {
	config, err := methodConfig(s.Method, s.Heads)
	o := origin{
		method: s.Method, headConfig: config,
		backbone: s.Backbone, preprocess: s.Preprocess, fingerprint: s.PreprocessFingerprint,
		seed: s.Seed, toolVersion: s.ToolVersion,
		statistics: !s.WithoutStatistics, calibrate: !s.WithoutCalibration,
	}
	if s.Preprocess != nil {
		o.fingerprint = cmp.Or(o.fingerprint, s.Preprocess.Fingerprint())
	}
	return o, err
}

// methodConfig returns the part of the configuration that concerns a method.
func methodConfig(method string, c heads.Config) (json.RawMessage, error) {
	m, err := heads.Find(method)
	if err != nil {
		return nil, err
	}
	all, err := json.Marshal(m.Resolve(c))
	if err != nil {
		return nil, err
	}
	var byMethod map[string]json.RawMessage
	if err := json.Unmarshal(all, &byMethod); err != nil {
		return nil, err
	}
	return byMethod[m.Key()], nil
}
