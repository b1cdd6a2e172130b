package gauss

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// TestFewExamplesAreAsMany: eigenpairs of few examples give the densities, and the choice of ε,
// that the d×d matrix gives, however much of the space is guessed.
func TestFewExamplesAreAsMany(t *testing.T) {
	const d = 90
	for name, sizes := range map[string][]int{
		"none guessed": {4, 3, 5}, "half guessed": {2, 1, 3, 1, 1, 1}, "all guessed": {1, 1, 1},
		"alike": {2, 2},
	} {
		rng := rand.New(rand.NewPCG(uint64(len(sizes)), 3))
		x, y := dense.New32(0, d), []string{}
		for c, n := range sizes {
			for range n {
				for j := range d {
					v := rng.NormFloat64()
					if j%len(sizes) == c {
						v += 2
					}
					if name == "alike" {
						v = 1
					}
					x.Data = append(x.Data, float32(v))
				}
				x.Rows, y = x.Rows+1, append(y, string(rune('a'+c)))
			}
		}
		s := must.Get(moments.NewSession(x, y, 0, true))(t)
		few := must.Get(Fit(context.Background(), linalg.Backend{}, s, s.Totals()))(t)
		if few.pairs == nil {
			t.Fatalf("%s: there are no eigenpairs", name)
		}
		many := *few
		many.within = must.Get(few.full())(t)
		many.pairs, many.thin = nil, blas64.General{}
		for _, epsilon := range []float64{0.3, 1} {
			got, want := scoresOf(t, few, s, epsilon), scoresOf(t, &many, s, epsilon)
			if !floats.EqualApprox(got, want, 1e-9*(1+floats.Norm(want, math.Inf(1)))) {
				t.Errorf("%s, ε = %g: %v, want %v", name, epsilon, got[:4], want[:4])
			}
		}
		left, all := few.LeaveOut(s), many.LeaveOut(s)
		if (left == nil) != (all == nil) {
			t.Fatalf("%s: examples are left out of one only", name)
		}
		if left == nil {
			continue
		}
		got, chosen, err := left.Choose(context.Background())
		want, rather, err2 := all.Choose(context.Background())
		same := func(a, b Trial) bool { return a.Accuracy == b.Accuracy && math.Abs(a.NLL-b.NLL) < 1e-9 }
		if err != nil || err2 != nil || chosen != rather || !slices.EqualFunc(got, want, same) {
			t.Errorf("%s: %v and %g, want %v and %g (%v, %v)", name, got, chosen, want, rather, err, err2)
		}
	}
}

// scoresOf returns the log-densities of the examples of a session in the space of a basis.
func scoresOf(t *testing.T, b *Basis, s *moments.Session, epsilon float64) []float64 {
	t.Helper()
	sp := must.Get(b.Space(epsilon))(t)
	densities := must.Get(sp.Pooled(b.totals))(t)
	white := must.Get(sp.WhitenedRows(s.X))(t)
	scores := must.Get(sp.Stack(densities).OpenLogDensities(white))(t)
	return scores.Data
}
