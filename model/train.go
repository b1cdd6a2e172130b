package model

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/embed"
)

// creator makes a fresh head, loader brings one back.
type (
	creator func() (classifier.Learner, error)
	loader  func(method string, s classifier.State) (classifier.Learner, error)
)

// origin is what a new model records beside its head.
type origin struct {
	method      string
	headConfig  json.RawMessage
	provenance  embed.Provenance
	seed        uint64
	toolVersion string
	statistics  bool
	calibrate   bool
}

// train learns the base session, temperature included, and calibrates the novelty
// threshold.
func train(ctx context.Context, o origin, create creator, b Batch) (*Model, Outcome, error) {
	head, err := create()
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train: %w", err)
	}
	m := &Model{
		Method: o.method, Head: head, HeadConfig: o.headConfig,
		Provenance: o.provenance,
		Seed:       o.seed, ToolVersion: o.toolVersion, KeepStatistics: o.statistics,
	}
	outcome, err := m.Learn(ctx, b)
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("train: %w", err)
	}
	m.Calibration.Reason = "calibration was switched off in training"
	if o.calibrate {
		once := b.only(b.plan(index{map[Hash]string{}, map[Hash][]string{}}).rows)
		if m.Calibration, err = calibrate(ctx, m.again(create), once, o.seed); err != nil {
			return nil, Outcome{}, fmt.Errorf("train: %w", err)
		}
	}
	return m, outcome, nil
}

// again returns what makes heads that calibrate the novelty of a trained one:
// what it chose on its session is as it chose it, and without a temperature,
// which changes no novelty.
func (m *Model) again(create creator) creator {
	if u, ok := classifier.As[episodes.Unfitter](m.Head); ok {
		return u.Unfitted
	}
	return func() (classifier.Learner, error) {
		head, err := create()
		if err != nil {
			return nil, err
		}
		return temperature.Within(head), nil
	}
}

// only returns the batch of some rows.
func (b Batch) only(rows []int) Batch {
	out := Batch{X: b.rows(rows)}
	for _, i := range rows {
		out.Labels = append(out.Labels, b.Labels[i])
		out.Content = append(out.Content, b.Content[i])
	}
	return out
}
