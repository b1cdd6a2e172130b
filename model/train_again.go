package model

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Examples returns what the model has learned, in that order. The embeddings are
// those that it keeps; ok is false if it does not keep all of them.
func (m *Model) Examples() (b Batch, ok bool) {
	if m.SampleCount() == 0 {
		return Batch{X: dense.New32(0, m.Dim())}, true
	}
	rows := m.Predictor.kept.bySample(m.Sessions)
	if rows == nil || m.Traces {
		return Batch{}, false
	}
	d := m.Dim()
	b.X = blas32.General{Cols: d, Stride: d}
	for _, id := range m.Sessions.samples() {
		b.X.Rows, b.X.Data = b.X.Rows+1, append(b.X.Data, rows[id].x...)
		b.Taken = append(b.Taken, rows[id].taken)
		b.Labels, b.Content = append(b.Labels, id.Class), append(b.Content, id.Content)
	}
	b.Taken = holdout.Told(b.Taken)
	return b, true
}

// Retrained returns a model with the settings of m that has learned b as its base
// session, and nothing else. A projection stays that of m. Cost: that of Train.
func (m *Model) Retrained(ctx context.Context, b Batch) (*Model, Outcome, error) {
	p, err := m.Predictor.untrained(nil)
	if err != nil {
		return nil, Outcome{}, err
	}
	p.Projection = m.Predictor.Projection
	next := &Model{
		Method: m.Method, Choice: m.Choice.withoutTrials(), Predictor: p, HeadConfig: m.HeadConfig,
		Provenance: m.Provenance, Prior: m.Prior, Seed: m.Seed,
		ToolVersion: m.ToolVersion, ClassFrom: m.ClassFrom, KeepStatistics: m.KeepStatistics, makes: m.makes,
	}
	o, err := next.Learn(ctx, b)
	return next, o, err
}
