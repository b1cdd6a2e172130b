package shrinkage

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// clouds returns n examples of each of C classes, one after the other.
func clouds(C, n, d int) (blas64.General, []int) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := dense.New(C*n, d)
	y := make([]int, C*n)
	for i := range y {
		y[i] = i % C
		for j := range d {
			x.Data[i*d+j] = rng.NormFloat64()
			if j == y[i] {
				x.Data[i*d+j] += 3
			}
		}
	}
	return x, y
}

func TestLogisticGradient(t *testing.T) {
	x, y := clouds(3, 40, 4)
	l := newLogistic(linalg.Default(), x, y, 3)
	rng := rand.New(rand.NewPCG(1, 1))
	w := make([]float64, 3*5)
	for i := range w {
		w[i] = rng.NormFloat64() / 2
	}
	_, gradient, err := l.loss(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	for i := range w {
		const h = 1e-2 // the products are in float32
		at := func(by float64) float64 {
			moved := append([]float64(nil), w...)
			moved[i] += by
			loss, _, err := l.loss(context.Background(), moved)
			if err != nil {
				t.Fatal(err)
			}
			return loss
		}
		if numeric := (at(h) - at(-h)) / (2 * h); math.Abs(numeric-gradient[i]) > 1e-4 {
			t.Errorf("gradient %d is %g, by differences %g", i, gradient[i], numeric)
		}
	}
}

// TestLogisticLearns from more than one chunk of examples, also if all are
// equal.
func TestLogisticLearns(t *testing.T) {
	x, y := clouds(4, 700, 6)
	w, err := newLogistic(linalg.Default(), x, y, 4).fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range x.Rows {
		scores := make([]float64, 4)
		for c := range scores {
			scores[c] = w.Data[c*7+6] + dense.Dot(w.Data[c*7:c*7+6], x.Data[i*6:(i+1)*6])
		}
		if floats.MaxIdx(scores) == y[i] {
			right++
		}
	}
	if right < 2600 {
		t.Errorf("%d of 2800 are right", right)
	}
	clear(x.Data)
	if w, err = newLogistic(linalg.Default(), x, y, 4).fit(context.Background()); err != nil || math.IsNaN(w.Data[0]) {
		t.Errorf("equal examples: %g, %v", w.Data[0], err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newLogistic(linalg.Default(), x, y, 4).fit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
