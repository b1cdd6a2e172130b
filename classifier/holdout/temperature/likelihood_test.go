package temperature_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// answers are those of a head that is too sure by a factor of 4, to n examples of 10 classes,
// of which a share has the label of another class.
func answers(n int, wrong float64) *temperature.Likelihood {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	l := &temperature.Likelihood{}
	for range n {
		row := make([]float64, 10)
		for c := range row {
			row[c] = 3 * rng.NormFloat64()
		}
		classifier.LogSoftmax(row)
		own, u := 0, rng.Float64()
		for u -= math.Exp(row[0]); u > 0 && own < 9; u -= math.Exp(row[own]) {
			own++
		}
		if rng.Float64() < wrong {
			own = (own + 1 + rng.IntN(9)) % 10
		}
		for c := range row {
			row[c] *= 4
		}
		classifier.LogSoftmax(row)
		l.Add(row, own)
	}
	return l
}

// T is that of the true classes, however many labels are wrong; where none is, nothing changes.
func TestWrongLabelsDoNotMoveT(t *testing.T) {
	for _, wrong := range []float64{0, 0.025, 0.1} {
		l := answers(3000, wrong)
		v, plain := l.MinimumWith(l.Wrong()), l.Minimum()
		if math.Abs(v.T/4-1) > 0.15 || math.Abs(v.Wrong-wrong) > 0.025 || v.ECE > 0.03 || v.After > v.Before {
			t.Errorf("%g wrong: %+v", wrong, v)
		}
		if wrong == 0 && *v != *plain {
			t.Errorf("no label is wrong: %+v, without the search for some %+v", v, plain)
		}
		if wrong == 0.1 && plain.T < 5 {
			t.Errorf("%g wrong would not move T either: %g", wrong, plain.T)
		}
	}
}

// Chance does not make wrong labels.
func TestRightLabelsAreNotWrong(t *testing.T) {
	for n := 200; n < 240; n++ {
		if s := answers(n, 0).Wrong(); s != 0 {
			t.Errorf("%d right labels: %g of them are wrong", n, s.Value())
		}
	}
}

// A head that is always wrong is not made sure of it.
func TestWrongAnswersStayUnsure(t *testing.T) {
	var l temperature.Likelihood
	for range 10 {
		l.Add([]float64{-0.1, -3, -3.1}, 1)
	}
	if v := l.MinimumWith(l.Wrong()); v.T < 1 {
		t.Errorf("%+v", v)
	}
}

func TestMergedLikelihoodsAreOne(t *testing.T) {
	whole, part := answers(500, 0.1), answers(400, 0.1)
	sum := &temperature.Likelihood{}
	sum.Merge(whole)
	sum.Merge(part)
	mixed := temperature.Mixed(whole, part, 4.0/9)
	a, b := sum.MinimumWith(sum.Wrong()), mixed.MinimumWith(mixed.Wrong())
	if a.Wrong == 0 || a.Wrong != b.Wrong || math.Abs(a.T/b.T-1) > 1e-9 || math.Abs(a.ECE-b.ECE) > 1e-9 {
		t.Errorf("%+v merged, %+v mixed", a, b)
	}
}

// At T the probabilities say how often the winning class is the true one, however many labels
// are wrong; at a higher T they say too little.
func TestUnderstated(t *testing.T) {
	for _, wrong := range []float64{0, 0.1} {
		l := answers(3000, wrong)
		v := l.MinimumWith(l.Wrong())
		if u := l.Understated(v); math.Abs(u) > 0.03 {
			t.Errorf("%g wrong: understated by %.3f at T", wrong, u)
		}
		v.T *= 3
		if u := l.Understated(v); u < 0.1 {
			t.Errorf("%g wrong: understated by %.3f at three times T", wrong, u)
		}
	}
	var l temperature.Likelihood
	for range 10 { // the first of two classes has 3/4, and at T = ½ 9/10
		l.Add([]float64{math.Log(0.75), math.Log(0.25)}, 0)
	}
	for T, want := range map[float64]float64{1: 0.25, 0.5: 0.1} {
		if u := l.Understated(&temperature.Value{T: T}); math.Abs(u-want) > 1e-3 {
			t.Errorf("T = %g: understated by %.4f, want %g", T, u, want)
		}
	}
}
