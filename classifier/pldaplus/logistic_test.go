package pldaplus

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
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
	for i := range y[:60] { // 20, 40 and 60 of a class
		y[i] = max(y[i], 1+i%2)
	}
	l := newLogistic(linalg.Backend{}, x, y, 3)
	rng := rand.New(rand.NewPCG(1, 1))
	w := make([]float64, 3*5)
	for i := range w {
		w[i] = rng.NormFloat64() / 2
	}
	_, gradient := must.Get2(l.loss(context.Background(), w))(t)
	for i := range w {
		const h = 1e-2 // the products are in float32
		at := func(by float64) float64 {
			moved := append([]float64(nil), w...)
			moved[i] += by
			loss, _ := must.Get2(l.loss(context.Background(), moved))(t)
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
	w, err := newLogistic(linalg.Backend{}, x, y, 4).fit(context.Background())
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
	if w, err = newLogistic(linalg.Backend{}, x, y, 4).fit(context.Background()); err != nil || math.IsNaN(w.Data[0]) {
		t.Errorf("equal examples: %g, %v", w.Data[0], err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newLogistic(linalg.Backend{}, x, y, 4).fit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLogisticOfUnevenClasses: of two classes that overlap, the one of twenty times as
// many examples is not preferred.
func TestLogisticOfUnevenClasses(t *testing.T) {
	x, y := clouds(2, 4000, 3)
	var rows, classes = dense.New(0, 3), []int(nil)
	for i, c := range y[:4000] {
		if c == 0 || i%20 == 1 {
			rows.Data, rows.Rows, classes = append(rows.Data, dense.Row(x, i)...), rows.Rows+1, append(classes, c)
		}
	}
	w := must.Get(newLogistic(linalg.Backend{}, rows, classes, 2).fit(context.Background()))(t)
	var right [2]float64
	for i := 4000; i < len(y); i++ {
		row := dense.Row(x, i)
		margin := w.Data[7] - w.Data[3] + dense.Dot(w.Data[4:7], row) - dense.Dot(w.Data[:3], row)
		if (margin > 0) == (y[i] == 1) {
			right[y[i]] += 1.0 / 2000
		}
	}
	if math.Abs(right[0]-right[1]) > 0.02 {
		t.Errorf("names %.1f and %.1f %% of the two classes correctly", 100*right[0], 100*right[1])
	}
}
