package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestTogether: one example is as it is, nothing added leaves the mean, and otherwise the
// odds grow with each further example.
func TestTogether(t *testing.T) {
	mean, got := []float64{0.5, 0.3, 0.2, 0}, make([]float64, 4)
	for _, c := range []struct {
		n           int
		added, odds float64
	}{{1, 1, 5. / 3}, {7, 0, 5. / 3}, {2, 1, 25. / 9}, {3, 0.5, 25. / 9}} {
		Together(got, mean, c.n, c.added)
		if odds := math.Exp(got[0] - got[1]); math.Abs(odds-c.odds) > 1e-12 || math.Abs(floats.LogSumExp(got)) > 1e-12 {
			t.Errorf("%+v: odds %g, sum %g", c, odds, floats.LogSumExp(got))
		}
	}
	Together(mean, mean, 2, 1) // in place
	if math.Abs(math.Exp(mean[0]-mean[1])-25./9) > 1e-12 {
		t.Errorf("in place: %v", mean)
	}
}

// TestAdded recovers how much groups share: examples of a group that repeat each other add
// nothing, independent ones much, and too few groups tell nothing.
func TestAdded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	groups := func(n int, same bool) (out []*cluster) {
		for range n {
			g := &cluster{own: rng.IntN(4)}
			row := make([]float32, 4)
			for i := range 5 {
				if i == 0 || !same {
					for j := range row {
						row[j] = float32(rng.NormFloat64() / 2)
					}
					row[g.own] += 0.25 // the log-ratio of two Gaussians at this distance
				}
				g.logProb = append(g.logProb, append([]float32(nil), row...))
			}
			out = append(out, g)
		}
		return out
	}
	if v := added(groups(3000, true), 1); v > 0.1 {
		t.Errorf("repetitions add %g", v)
	}
	if v := added(groups(3000, false), 1); v < 0.7 {
		t.Errorf("independent examples add %g", v)
	}
	if v := added(groups(fewGroups-1, false), 1); v != 0 {
		t.Errorf("too few groups: %g", v)
	}
}
