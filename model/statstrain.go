package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/dkl/projected"
	"github.com/seed-90d10d51/pipeline/method"
)

// noHeldOut is why a model that learned statistics has no threshold.
const noHeldOut = "the model was trained from statistics, which have no examples to hold out"

// TrainStats learns a base session from statistics, whose backbone and
// preprocessing it records. The model is that of Train on the same samples, but
// that nothing which needs single examples can be had: what is left to
// pseudo-sessions is the default, the temperature is 1 unless it is given, and
// there is no rejection threshold. The error wraps classifier.ErrUnsupported
// where the method cannot learn from statistics.
func TrainStats(ctx context.Context, settings Settings, s *Stats) (*Model, Outcome, error) {
	m, err := trainStats(ctx, settings, s)
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train from statistics: %w", err)
	}
	return m, Outcome{Added: m.SampleCount(), NewClasses: slices.Clone(m.Classes())}, nil
}

func trainStats(ctx context.Context, settings Settings, s *Stats) (*Model, error) {
	settings.Provenance = s.Provenance
	o, err := settings.origin()
	if err != nil {
		return nil, err
	}
	head, err := method.Tempered(settings.Backend, settings.Method, settings.Heads, settings.Temperature)
	if err != nil {
		return nil, err
	}
	if err := s.teach(ctx, settings.Method, head); err != nil {
		return nil, err
	}
	return &Model{
		Method: o.method, Head: head, HeadConfig: o.headConfig,
		Provenance: o.provenance,
		Seed:       o.seed, ToolVersion: o.toolVersion, KeepStatistics: o.statistics,
		Sessions:    []Session{{NewClasses: slices.Clone(head.Classes()), Samples: s.Samples()}},
		Calibration: Calibration{Reason: noHeldOut},
		changed:     true,
	}, nil
}

// teach lets a head learn the statistics.
func (s *Stats) teach(ctx context.Context, method string, head classifier.Learner) error {
	learner, err := s.learner(method, head)
	if err != nil {
		return err
	}
	if len(s.classes) == 0 {
		return fmt.Errorf("there are no samples in them")
	}
	if err := s.settle(); err != nil {
		return err
	}
	var stats []*moments.Moments
	for _, name := range s.Classes() {
		stats = append(stats, s.classes[name].stats)
	}
	return learner.LearnMoments(ctx, s.Classes(), stats)
}

// learner is what of a head can learn these statistics.
func (s *Stats) learner(method string, head classifier.Head) (moments.Learner, error) {
	if _, ok := classifier.As[*projected.Head](head); ok {
		return nil, fmt.Errorf("the model projects embeddings before it learns them, and statistics cannot be projected: give --images or --features: %w", classifier.ErrUnsupported)
	}
	learner, ok := classifier.As[moments.Learner](head)
	if !ok {
		return nil, fmt.Errorf("%s needs the examples themselves: give --images or --features, or choose another method: %w", method, classifier.ErrUnsupported)
	}
	if learner.TakesUnit() != s.Unit {
		wants, advice := "as they are", "with --raw"
		if learner.TakesUnit() {
			wants, advice = "scaled to length 1", "without --raw"
		}
		return nil, fmt.Errorf("%s with these settings takes embeddings %s: collect the statistics again %s", method, wants, advice)
	}
	return learner, nil
}
