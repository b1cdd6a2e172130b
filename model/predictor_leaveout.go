package model

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// LearnedAs returns a function that returns the classes that a content was learned as,
// none for one that was not learned. It does not follow later changes of m.
func (m *Model) LearnedAs() func(content Hash) []string { return m.Sessions.index().classes }

// A Verdict is an example and what a model with the same settings says of it that has not
// learned it.
type Verdict struct {
	ID SampleID
	// LogProb is log p(class | x) in nats, in the order of Classes and valid until the next one.
	LogProb []float64
	Novelty float64
	// Right reports whether it is named correctly, taking into account that its class has
	// lost it (package calibration).
	Right bool
}

// LeaveOut calls visit with everything that m has learned. The only example of a class
// is not visited. Heads learn all sessions again without one of ten folds (slow ones:
// of three), so that a left-out example is missing from what all classes share, too;
// projection, chosen settings and temperature are those of m, so that a trace of each
// example stays in these.
//
// Groups of like examples are left out whole if the calibration of m did so.
//
// rows has embeddings that m does not keep. If it lacks any, the error wraps a
// *MissingRowsError; if those of later sessions are all there, these are visited all the
// same: what classes share is of the base session, and a head that forgets single
// examples forgets them. The order of visits is random, one at a time. Cost: ten times
// that of learning.
func (m *Model) LeaveOut(ctx context.Context, rows map[Hash][]float32,
	visit func(Verdict)) error {
	if err := m.leaveOut(ctx, rows, visit); err != nil {
		return fmt.Errorf("leave out what was learned: %w", err)
	}
	return nil
}

func (m *Model) leaveOut(ctx context.Context, rows map[Hash][]float32,
	visit func(Verdict)) error {
	kept, lacking := m.Predictor.kept.bySample(m.Sessions), &MissingRowsError{}
	lessons, whole := m.Sessions.without(nil), 0
	for i := range lessons {
		before := lacking.Missing
		lessons[i].gather(kept, rows, m.Dim(), lacking)
		if lacking.Missing > before {
			whole = i + 1 // the sessions after it have all of their rows
		}
	}
	if len(lessons) == 0 {
		return nil
	}
	told := m.telling(visit)
	if lacking.Missing > 0 {
		if err := m.leaveOutLater(ctx, lessons[whole:], told); err != nil {
			return err
		}
		return lacking
	}
	sessions := make([]episodes.Episode, len(lessons))
	for i, l := range lessons {
		z, err := m.Predictor.project(l.x)
		if err != nil {
			return err
		}
		sessions[i] = episodes.Episode{X: z, Y: l.labels(), Taken: l.taken}
	}
	task := calibration.Task{Sessions: sessions, Fresh: m.Predictor.unfitted}
	return calibration.LeaveOut(ctx, task, m.Predictor.Calibration.Elsewhere > 0,
		func(a calibration.Verdict) { told(lessons[a.Place.Session].Samples[a.Place.Row], a) })
}

// telling returns a function that gives visit what a head says of a sample, one at a time.
func (m *Model) telling(visit func(Verdict)) func(SampleID, calibration.Verdict) {
	column := make(map[string]int, len(m.Classes()))
	for j, name := range m.Classes() {
		column[name] = j
	}
	row := make([]float64, len(column))
	var one sync.Mutex
	return func(id SampleID, a calibration.Verdict) {
		one.Lock()
		defer one.Unlock()
		for j := range row {
			row[j] = math.Inf(-1)
		}
		for j, name := range a.Head.Classes() {
			row[column[name]] = a.LogProb[j]
		}
		m.Predictor.Temper(blas64.General{Rows: 1, Cols: len(row), Stride: len(row), Data: row})
		visit(Verdict{ID: id, LogProb: row, Novelty: a.Novelty, Right: a.Right})
	}
}

// leaveOutLater leaves out the examples of lessons that follow the base session: in each of ten
// folds a copy of the head forgets them. A head that cannot is not asked.
func (m *Model) leaveOutLater(ctx context.Context, lessons []sessionRows,
	told func(SampleID, calibration.Verdict)) error {
	cloner, clones := m.Predictor.Head.(classifier.Cloner)
	_, forgets := m.Predictor.Head.(classifier.SampleForgetter)
	if !forgets || !clones {
		return nil
	}
	folds := m.laterFolds(lessons)
	return dense.ParallelErr(len(folds), func(f int) error {
		left := folds[f]
		if len(left.Samples) == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
		z, err := m.Predictor.project(left.x)
		if err != nil {
			return err
		}
		head, err := cloner.Clone()
		if err == nil {
			err = head.(classifier.SampleForgetter).ForgetSamples(z, left.labels())
		}
		if err != nil {
			return err
		}
		return episodes.Answers(head, episodes.Episode{X: z, Y: left.labels()}, func(i int, a episodes.Answer) {
			right := floats.MaxIdx(a.LogProb) == a.Own
			told(left.Samples[i], calibration.Verdict{Head: head, Answer: a, Right: right})
		})
	})
}

// laterFolds deals the examples of lessons into folds, none of which has all of a class; the only
// example of a class is in none.
func (m *Model) laterFolds(lessons []sessionRows) []sessionRows {
	size, of := map[string]int{}, map[string]sessionRows{}
	for _, id := range m.Sessions.samples() {
		size[id.Class]++
	}
	for _, l := range lessons {
		for i, id := range l.Samples {
			class := of[id.Class]
			class.add(id, dense.Row32(l.x, i))
			of[id.Class] = class
		}
	}
	folds, next := make([]sessionRows, calibration.Folds), 0
	for _, class := range slices.Sorted(maps.Keys(of)) {
		if size[class] < 2 {
			continue
		}
		for i, id := range of[class].Samples {
			folds[next%len(folds)].add(id, dense.Row32(of[class].x, i))
			next++
		}
	}
	return folds
}

func (l *sessionRows) add(id SampleID, x []float32) {
	l.Samples = append(l.Samples, id)
	l.x.Cols, l.x.Stride = len(x), len(x)
	l.x.Rows, l.x.Data = l.x.Rows+1, append(l.x.Data, x...)
}
