package episodes

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// An Unfitter makes heads that are cheap to fit in pseudo-sessions.
type Unfitter interface {
	// Unfitted returns an unfitted head with the settings of this one; what
	// was left to be chosen on the base session is as this one chose it.
	Unfitted() (classifier.Learner, error)
}

// An Answer is what a head says of one held-out example.
type Answer struct {
	// Novel says that its class was learned from a few examples after the
	// others.
	Novel bool
	// LogProb are those of all classes; they are overwritten by the next
	// answer. Own is the column of the example's class.
	LogProb []float64
	Own     int
	// Novelty is higher for what is less known.
	Novelty float64
}

// HeldOut takes heads made by fresh through the episodes of a plan and hands
// what they say of the held-out examples to visit: those of one split in order,
// several splits at the same time. Row i of x, which is what the heads learn, is
// the example of class y[i] that the plan means; it may be a projection of the
// embeddings that the plan was drawn from.
//
// Cost: for each split one fit and the scores of TestPerClass examples of every
// class.
func HeldOut(ctx context.Context, plan *Plan, x blas32.General, y []string, fresh func() (classifier.Learner, error), visit func(split int, a Answer)) error {
	_, err := each(ctx, plan, Session{x, y}, func(ctx context.Context, d Draw) (struct{}, error) {
		head, err := fresh()
		if err != nil {
			return struct{}{}, err
		}
		for _, part := range []Session{d.Base, d.Shots} {
			if err := head.Learn(ctx, part.X, part.Y); err != nil {
				return struct{}{}, err
			}
		}
		answer := func(a Answer) { visit(d.Number, a) }
		if err := answers(head, d.BaseTest, false, answer); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, answers(head, d.NovelTest, true, answer)
	})
	return err
}

// answers visits what a head says of a session.
func answers(head classifier.Head, s Session, novel bool, visit func(Answer)) error {
	return classifier.ScoreBatches(head, s.X, func(first int, logProb blas64.General, novelty []float64) error {
		for i := range logProb.Rows {
			own := slices.Index(head.Classes(), s.Y[first+i])
			if own < 0 {
				return fmt.Errorf("%q: %w", s.Y[first+i], classifier.ErrUnknownClass)
			}
			row := logProb.Data[i*logProb.Stride : i*logProb.Stride+logProb.Cols]
			visit(Answer{Novel: novel, LogProb: row, Own: own, Novelty: novelty[i]})
		}
		return nil
	})
}
