package gauss

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// With two examples of many values and a prior, leaving out must not say more than
// new examples do: a mean of one example keeps its noise to itself.
func TestLeaveOutIsAsAccurateAsNewExamples(t *testing.T) {
	const C, n, tests, d, signal = 60, 2, 20, 200, 0.25
	rng := rand.New(rand.NewPCG(7, 1))
	x, y, query := dense.New32(C*n, d), []string{}, dense.New32(C*tests, d)
	for c := range C {
		centre := make([]float64, d)
		for j := range centre {
			centre[j] = signal * rng.NormFloat64()
		}
		fill := func(row []float32) {
			for j := range row {
				row[j] = float32(centre[j] + rng.NormFloat64())
			}
		}
		for i := range n {
			fill(dense.Row32(x, c*n+i))
			y = append(y, "c"+strconv.Itoa(100+c))
		}
		for i := range tests {
			fill(dense.Row32(query, c*tests+i))
		}
	}
	s := must.Get(moments.NewSession(x, y, 0, true))(t)
	b := must.Get(Fit(t.Context(), linalg.Backend{}, s, s.Totals()))(t)
	P := dense.Identity(d)
	blas64.Scal(1.0/d, dense.Vector(P.Data))
	b = must.Get(b.With(&Prior{Within: P}, 300))(t)
	for _, epsilon := range []float64{1, 0.3} {
		sp := must.Get(b.Space(epsilon))(t)
		densities := must.Get(sp.Pooled(s.Totals()))(t)
		q := must.Get(sp.WhitenedRows(query))(t)
		scores := must.Get(sp.Stack(densities).LogDensities(q))(t)
		right := 0.0
		for i := range q.Rows {
			best := 0
			for c, v := range dense.Row(scores, i) {
				if v > dense.Row(scores, i)[best] {
					best = c
				}
			}
			if best == i/tests {
				right++
			}
		}
		accuracy := right / float64(q.Rows)
		left := must.Get(b.LeaveOut(s).try(epsilon))(t)
		// Of one example instead of two it may be less accurate, but not more.
		sd := math.Sqrt(accuracy * (1 - accuracy) / float64(C*n))
		t.Logf("ε = %g: %.1f %% of new examples, %.1f %% of those left out", epsilon, 100*accuracy, 100*left.Accuracy)
		if left.Accuracy > accuracy+3*sd || left.Accuracy < accuracy/2 {
			t.Errorf("ε = %g: %.1f %% of new examples are named correctly, %.1f %% of those left out", epsilon,
				100*accuracy, 100*left.Accuracy)
		}
	}
}
