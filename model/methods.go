package model

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/dkl/projected"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/method"
)

// Settings says how to train a model.
type Settings struct {
	// Method is one of method.Methods, Heads the settings of all of them.
	Method string
	Heads  method.Config
	// Temperature is that of the probabilities; the zero Config fits it.
	Temperature temperature.Config
	// DKL trains a projection in front of the head, in Gym; nil means none.
	DKL *dkl.Training
	Gym projected.Gym
	// Provenance says what made the embeddings, as far as that is known.
	Provenance embed.Provenance
	// Seed chooses the pseudo-sessions or folds of the calibration.
	Seed        uint64
	ToolVersion string
	// WithoutStatistics leaves the side file away: a smaller model whose
	// classes cannot take or lose examples with methods that need it.
	WithoutStatistics bool
	// WithoutCalibration leaves away the five fits that the rejection
	// threshold costs; the model then has none.
	WithoutCalibration bool
	// Backend is the backend of the head's large products; nil is gonum.
	Backend linalg.Backend
}

// Train learns a base session and calibrates the rejection threshold on it.
// The same settings and batch give the same model, byte for byte when saved.
// Cost: one fit, five of most of the data for the temperature unless it is given,
// and five for the calibration; a method that chooses settings on the base
// session does so once.
func Train(ctx context.Context, s Settings, b Batch) (*Model, Outcome, error) {
	o, err := s.origin()
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train: %w", err)
	}
	return train(ctx, o, s.head, b)
}

// head returns an unfitted head.
func (s Settings) head() (classifier.Learner, error) {
	if s.DKL == nil {
		return method.Tempered(s.Backend, s.Method, s.Heads, s.Temperature)
	}
	gym := s.Gym
	gym.Backend = s.Backend
	return method.Projected(s.Method, s.Heads, s.Temperature, *s.DKL, gym)
}

// Load reads a MODEL file and checks all of it. The error wraps ErrNotModel,
// ErrNewerVersion, ErrTooShort or ErrAltered when that is what is wrong, and
// names MODEL.prev where that could help. The statistics side file is not read
// before an operation needs it; without it the model still predicts.
func Load(path string) (*Model, error) { return load(path, method.Load) }

func (s Settings) origin() (origin, error) {
	config, err := methodConfig(s.Method, s.Heads)
	o := origin{
		method: s.Method, headConfig: config,
		provenance: s.Provenance,
		seed:       s.Seed, toolVersion: s.ToolVersion,
		statistics: !s.WithoutStatistics, calibrate: !s.WithoutCalibration,
	}
	return o, err
}

// methodConfig returns the part of the configuration that concerns a method, {}
// where it has no settings.
func methodConfig(name string, c method.Config) (json.RawMessage, error) {
	m, err := method.Find(name)
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
	if own, ok := byMethod[m.Key()]; ok {
		return own, nil
	}
	return json.RawMessage("{}"), nil
}
