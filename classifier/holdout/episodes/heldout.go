package episodes

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// An Answer is the output of a head for one held-out example.
type Answer struct {
	// Novel reports whether its class was learned from a few examples after the
	// others.
	Novel bool
	// Alone reports that no such classes had been learned yet. Of a Novel example there is
	// only the novelty then.
	Alone bool
	// LogProb holds the log-probabilities of all classes, valid until the next
	// answer. Own is the column of the example's class.
	LogProb []float64
	Own     int
	// Class is that of the example, Named the most probable one.
	Class, Named string
	// Row is that of the example in the plan.
	Row int
	// Novelty is higher for less familiar examples.
	Novelty float64
}

// HeldOut trains heads made by fresh on the episodes of a plan and calls visit
// with their outputs for the held-out examples: those of one split in order,
// several splits concurrently. Examples come twice if there are later classes, before
// (Alone) and after these are learned. Row i of x, which the heads learn from, is the
// example of class y[i] in the plan; x may be a projection of the embeddings
// that the plan was drawn from.
//
// Cost: for each split one fit, and twice the scores of TestPerClass examples of every
// class.
func HeldOut(ctx context.Context, plan *Plan, x blas32.General, y []string, fresh func() (classifier.Learner, error),
	visit func(split int, a Answer)) error {
	_, err := each(ctx, plan, Episode{X: x, Y: y}, func(ctx context.Context, d Draw) (none struct{}, err error) {
		head, err := fresh()
		learn := func(s Episode) {
			if err == nil && len(s.Y) > 0 {
				err = head.Learn(ctx, s.X, s.Y)
			}
		}
		ask := func(s Episode, rows []int, kind Answer) {
			if err == nil {
				err = Answers(head, s, func(i int, a Answer) {
					a.Novel, a.Alone, a.Row = kind.Novel, kind.Alone, rows[i]
					visit(d.Number, a)
				})
			}
		}
		split := plan.Splits[d.Number]
		learn(d.Base)
		if len(d.Shots.Y) > 0 {
			ask(d.BaseTest, split.BaseTest, Answer{Alone: true})
			if err == nil {
				var novelties []float64
				novelties, err = Novelties(head, d.NovelTest.X)
				for _, v := range novelties {
					visit(d.Number, Answer{Novel: true, Alone: true, Novelty: v})
				}
			}
			learn(d.Shots)
		}
		ask(d.BaseTest, split.BaseTest, Answer{})
		ask(d.NovelTest, split.NovelTest, Answer{Novel: true})
		return none, err
	})
	return err
}

// Answers calls visit with the output of a head for every example of a session
// (not Novel), and its row.
func Answers(head classifier.Head, s Episode, visit func(i int, a Answer)) error {
	columns := make(map[string]int, len(head.Classes()))
	for c, name := range head.Classes() {
		columns[name] = c
	}
	return classifier.ScoreBatches(head, s.X, func(first int, logProb blas64.General, novelty []float64) error {
		for i := range logProb.Rows {
			own, ok := columns[s.Y[first+i]]
			if !ok {
				return fmt.Errorf("%q: %w", s.Y[first+i], classifier.ErrUnknownClass)
			}
			row := logProb.Data[i*logProb.Stride : i*logProb.Stride+logProb.Cols]
			visit(first+i, Answer{LogProb: row, Own: own, Class: s.Y[first+i], Row: first + i, Novelty: novelty[i],
				Named: head.Classes()[floats.MaxIdx(row)]})
		}
		return nil
	})
}

// Novelties returns the novelty of every row of x, of which the head may not have learned
// the class.
func Novelties(head classifier.Head, x blas32.General) (out []float64, err error) {
	err = classifier.ScoreBatches(head, x, func(_ int, _ blas64.General, novelty []float64) error {
		out = append(out, novelty...)
		return nil
	})
	return out, err
}
