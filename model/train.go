package model

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model/prior"
)

// Settings configures the training of a model. The zero value does what the commands do by
// default.
type Settings struct {
	// Method is one of method.Methods, or method.Auto, which "" stands for; Heads has the
	// settings of all of them.
	Method string
	Heads  method.Config
	// Temperature scales the probabilities; the zero Config fits it.
	Temperature temperature.Config
	// OldShare is the share of images expected to show base classes.
	OldShare OldShare
	// DKL trains a projection in front of the head, in Env; nil means none.
	DKL *dkl.Training
	Env dkl.TrainEnv
	// Provenance records how the embeddings were computed, as far as known.
	Provenance embedding.Provenance
	// Prior is that of the backbone, for methods that can start from one; nil means
	// none.
	Prior *prior.Prior
	// Words are those of the classes, for methods that use names; nil for none.
	Words *gauss.Words
	// Seed chooses the pseudo-sessions of the calibration.
	Seed        uint64
	ToolVersion string
	// ClassFrom is as in Model.
	ClassFrom string
	// WithoutStatistics omits the side file. With methods that need it, classes
	// can then neither gain nor lose examples.
	WithoutStatistics bool
	// WithoutCalibration skips the calibration, and the fits that it costs, if the
	// temperature is given.
	WithoutCalibration bool
	// Backend computes the large products of the head and of the projection;
	// nil is gonum.
	Backend linalg.Backend
	// Comparing, unless nil, is called before a number of methods are compared, and
	// returns what to call after each, and in the end.
	Comparing func(methods int) (step, finish func())
}

// Train learns a base session and calibrates the rejection threshold. The same
// settings and batch give the same model, byte for byte when saved. Cost: one
// fit, and ten on most of the data for the calibration (package calibration; five
// for a large base session); a method that chooses settings on the base session
// does so only once. With method.Auto, the cost is that of training all Candidates.
func Train(ctx context.Context, s Settings, b Batch) (*Model, Outcome, error) {
	s.Method = cmp.Or(s.Method, method.Auto)
	if s.Method == method.Auto && s.Words == nil {
		return trainChosen(ctx, s, b)
	}
	m, err := New(s)
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train: %w", err)
	}
	o, err := m.Learn(ctx, b)
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train: %w", err)
	}
	return m, o, nil
}

// New returns a model that has learned nothing. For method.Auto it has the default
// method, since there is nothing to choose by.
func New(s Settings) (*Model, error) {
	var choice *Choice
	if s.Method == "" || s.Method == method.Auto {
		s.Method = method.Default
		choice = &Choice{Why: method.Default + ", the rule for a model that starts without images"}
		if s.Words != nil {
			choice.Why = method.Default + ", the method that uses names"
		}
	}
	kind, err := method.Find(s.Method)
	if err != nil {
		return nil, err
	}
	if s.Prior != nil {
		if err := s.Prior.Accepts(s.Provenance); err != nil {
			return nil, err
		}
	}
	config, err := json.Marshal(s.Heads.Settings(kind))
	if err != nil {
		return nil, err
	}
	p, err := NewPredictor(s)
	if err != nil {
		return nil, err
	}
	m := &Model{
		Method: s.Method, Choice: choice, Predictor: p, HeadConfig: config,
		Provenance: s.Provenance, Prior: s.Prior,
		Seed: s.Seed, ToolVersion: s.ToolVersion, ClassFrom: s.ClassFrom, KeepStatistics: !s.WithoutStatistics,
	}
	return m, nil
}
