package temperature_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// TestOfIsTheMinimum: of heads from far too sure to far too doubtful, of such that are always
// right, nearly always wrong, or say that what happened is impossible, and of one class.
func TestOfIsTheMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, classes := range []int{1, 2, 7} {
		for _, sharpness := range []float64{0, 0.01, 0.3, 1, 4, 100, 1e5} {
			for _, right := range []float64{0, 0.1, 0.6, 1} {
				for _, n := range []int{0, 1, 2, 50} {
					logProb, own := draw(rng, n, classes, sharpness, right)
					check(t, logProb, own)
				}
			}
		}
	}
	impossible := dense.New(2, 2)
	copy(impossible.Data, []float64{0, math.Inf(-1), math.Log(0.5), math.Log(0.5)})
	check(t, impossible, []int{1, 0})
	check(t, impossible, []int{0, 0})
}

func check(t *testing.T, logProb blas64.General, own []int) {
	t.Helper()
	var l temperature.Likelihood
	for i, c := range own {
		l.Add(dense.Row(logProb, i), c)
	}
	want := 1.0
	if l.Len() > 0 {
		want = l.Minimum().T
	}
	if got := temperature.Of(logProb, own); !(math.Abs(got/want-1) < 1e-9) {
		t.Errorf("T = %g of %d examples, want %g: %v", got, len(own), want, logProb)
	}
}

// draw returns n examples whose own class scores highest in a share of the cases.
func draw(rng *rand.Rand, n, classes int, sharpness, right float64) (blas64.General, []int) {
	logProb, own := dense.New(n, classes), make([]int, n)
	for i := range own {
		row := dense.Row(logProb, i)
		for c := range row {
			row[c] = sharpness * rng.NormFloat64()
		}
		floats.AddConst(-floats.LogSumExp(row), row)
		if own[i] = rng.IntN(classes); rng.Float64() < right {
			own[i] = floats.MaxIdx(row)
		}
	}
	return logProb, own
}
