package experiment

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// Labelled holds embeddings with their classes: Y[i] is the class of row i of X
// (n×d).
type Labelled struct {
	X blas32.General
	Y []string
}

// Pick returns copies of the given rows.
func (l Labelled) Pick(rows []int) Labelled {
	out := Labelled{X: dense.Gather32(l.X, rows)}
	for _, r := range rows {
		out.Y = append(out.Y, l.Y[r])
	}
	return out
}

// Of returns the rows of a class.
func (l Labelled) Of(class string) []int {
	var rows []int
	for i, y := range l.Y {
		if y == class {
			rows = append(rows, i)
		}
	}
	return rows
}

// Shuffled returns the rows in random order.
func Shuffled(rows []int, rng *rand.Rand) []int {
	rows = slices.Clone(rows)
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

func (l *Labelled) add(x blas32.General, y []string) {
	if x.Rows == 0 {
		return
	}
	l.X = blas32.General{Rows: l.X.Rows + x.Rows, Cols: x.Cols, Stride: x.Cols, Data: append(l.X.Data, x.Data...)}
	l.Y = append(l.Y, y...)
}

// All returns the training and the test images of all sessions.
func All(b *fscil.Bench) (train, test Labelled) {
	for s := range b.Sessions() {
		train.add(b.Train(s))
		test.add(b.Test(s))
	}
	return train, test
}

// Accuracy returns the share of rows that h classifies correctly; classes
// unknown to h count as mistakes.
func Accuracy(h classifier.Head, test Labelled) (float64, error) {
	predictions, err := classifier.Predict(h, test.X, 0)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, p := range predictions {
		if p.Label == test.Y[i] {
			right++
		}
	}
	return float64(right) / float64(len(predictions)), nil
}
