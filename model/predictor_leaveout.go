package model

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
)

// LearnedAs returns a function that returns the classes that a content was learned as,
// none for one that was not learned. It does not follow later changes of m.
func (m *Model) LearnedAs() func(content Hash) []string { return m.Sessions.index().classes }

// LeaveOut calls visit with everything that m has learned, and what a model with the
// same settings says of it that has not: log p(class | x) in nats, in the order of
// Classes and valid until visit returns, and the novelty. The only example of a class
// is not visited. Heads learn all sessions again without one of ten folds (slow ones:
// of three); projection, chosen settings and temperature are those of m, so that a
// trace of each example stays in these.
//
// Groups of like examples are left out whole if the calibration of m did so.
//
// rows has embeddings that m does not keep; the error wraps a *MissingRowsError if it
// lacks any. The order of visits is random, one at a time. Cost: ten times that of
// learning.
func (m *Model) LeaveOut(ctx context.Context, rows map[Hash][]float32,
	visit func(id SampleID, logProb []float64, novelty float64)) error {
	if err := m.leaveOut(ctx, rows, visit); err != nil {
		return fmt.Errorf("leave out what was learned: %w", err)
	}
	return nil
}

func (m *Model) leaveOut(ctx context.Context, rows map[Hash][]float32,
	visit func(id SampleID, logProb []float64, novelty float64)) error {
	p, kept, lacking := m.Predictor, m.Predictor.kept.bySample(m.Sessions), &MissingRowsError{}
	var sessions []episodes.Episode
	lessons := m.Sessions.without(nil)
	for _, l := range lessons {
		l.gather(kept, rows, m.Dim(), lacking)
		if lacking.Missing > 0 {
			continue
		}
		z, err := p.project(l.x)
		if err != nil {
			return err
		}
		sessions = append(sessions, episodes.Episode{X: z, Y: l.labels(), Taken: l.taken})
	}
	if lacking.Missing > 0 {
		return lacking
	}
	column := make(map[string]int, len(m.Classes()))
	for j, name := range m.Classes() {
		column[name] = j
	}
	row := make([]float64, len(column))
	var one sync.Mutex
	apart := p.Calibration.Elsewhere > 0
	return calibration.LeaveOut(ctx, calibration.Task{Sessions: sessions, Fresh: p.unfitted}, apart,
		func(at episodes.Place, head classifier.Head, a episodes.Answer) {
			one.Lock()
			defer one.Unlock()
			for j := range row {
				row[j] = math.Inf(-1)
			}
			for j, name := range head.Classes() {
				row[column[name]] = a.LogProb[j]
			}
			p.Temper(blas64.General{Rows: 1, Cols: len(row), Stride: len(row), Data: row})
			visit(lessons[at.Session].Samples[at.Row], row, a.Novelty)
		})
}
