package model

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// noHeldOut is why a model trained from statistics has no threshold.
const noHeldOut = "the model was trained from statistics, which have no examples to hold out"

// TrainStats learns a base session from statistics, and records their backbone
// and preprocessing. The model equals that of Train on the same samples, except
// for what needs single examples: settings that episodes would choose have
// their defaults, the temperature is 1 unless it is given, and there is no
// rejection threshold. The error wraps classifier.ErrUnsupported if the method
// cannot learn from statistics.
func TrainStats(ctx context.Context, settings Settings, s *classstats.Stats) (*Model, Outcome, error) {
	settings.Provenance = s.Source()
	m, err := New(settings)
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train from statistics: %w", err)
	}
	o, err := m.learnStats(ctx, s)
	if err == nil && !o.Changed() {
		err = fmt.Errorf("they contain no samples")
	}
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train from statistics: %w", err)
	}
	return m, o, nil
}

// LearnStats is Learn from statistics, which may hold new classes and more
// samples of old ones: the result equals that of learning those samples.
// Samples already learned count once, as in Stats.Merge: if s no longer has the
// examples of such a class, the error wraps classstats.ErrCountedTwice. It
// wraps embedding.ErrOtherBackbone or embedding.ErrOtherPreprocessing if the embeddings
// do not match the model, and classifier.ErrUnsupported if the method cannot
// learn from statistics. On error the model is unchanged.
func (m *Model) LearnStats(ctx context.Context, s *classstats.Stats) (Outcome, error) {
	err := m.Accepts(s.Source())
	var o Outcome
	if err == nil {
		o, err = m.learnStats(ctx, s)
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("learn statistics: %w", err)
	}
	return o, nil
}

func (m *Model) learnStats(ctx context.Context, s *classstats.Stats) (Outcome, error) {
	learner, err := m.Predictor.momentsLearner(m.Method, s.Unit)
	if err != nil {
		return Outcome{}, err
	}
	known := m.Sessions.index()
	rest, err := s.Except(known.has)
	if err != nil {
		return Outcome{}, err
	}
	var o Outcome
	var names []string
	var samples []SampleID
	for _, c := range rest {
		names = append(names, c.Name)
		for _, h := range c.Content {
			id := SampleID{Content: h, Class: c.Name}
			samples = append(samples, id)
			known.add(id)
		}
	}
	o.Added, o.AlreadyKnown = len(samples), s.SampleCount()-len(samples)
	if !o.Changed() {
		return o, nil
	}
	for _, id := range samples {
		if labels := known.classes(id.Content); len(labels) > 1 {
			o.Conflicts = append(o.Conflicts, Conflict{fmt.Sprintf("%x", id.Content), labels})
		}
	}
	if err := m.checkPrior(samples, blas32.General{}); err != nil {
		return Outcome{}, err
	}
	m.statistics.restore(m.Predictor.Head)
	before := slices.Clone(m.Classes())
	if err := m.Predictor.learnMoments(ctx, learner, rest); err != nil {
		return Outcome{}, m.statistics.explain(err)
	}
	m.record(&o, before, names, Session{Samples: samples, FromStatistics: true})
	return o, nil
}

// learnMoments learns a session from statistics with the head of p.
func (p *Predictor) learnMoments(ctx context.Context, head moments.Learner, classes []classstats.Class) error {
	var names []string
	var stats []*moments.Moments
	for _, c := range classes {
		names, stats = append(names, c.Name), append(stats, c.Moments)
	}
	base := len(p.Classes()) == 0
	if err := head.LearnMoments(ctx, names, stats); err != nil {
		return err
	}
	p.kept = nil // the examples are not at hand
	if base {
		p.base = set(p.Classes())
		p.Calibration = calibration.Calibration{Novelty: calibration.Novelty{Reason: noHeldOut}}
		p.Temperature, _ = p.temperature.Value(func() (*temperature.Value, error) {
			return &temperature.Value{T: 1, Fallback: episodes.NoExamples}, nil
		})
	}
	return nil
}

// momentsLearner returns the head as a moments.Learner, if it takes embeddings
// that are scaled (unit) or unscaled.
func (p *Predictor) momentsLearner(method string, unit bool) (moments.Learner, error) {
	if p.dkl != nil {
		return nil, phrase.New("the model projects embeddings before it learns them, and statistics cannot be "+
			"projected: give {images} or {features}: %w", classifier.ErrUnsupported)
	}
	learner, ok := p.Head.(moments.Learner)
	if !ok {
		return nil, phrase.New("%s learns only from examples, not from collected statistics: give {images} or "+
			"{features}, or choose a method that pipeline stats {help} lists: %w", method, classifier.ErrUnsupported)
	}
	if learner.TakesUnit() != unit {
		wants, advice := "unscaled", "with {raw}"
		if learner.TakesUnit() {
			wants, advice = "scaled to length 1", "without {raw}"
		}
		return nil, phrase.New("%s with these settings needs embeddings %s: collect the statistics again "+advice,
			method, wants)
	}
	return learner, nil
}
