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

// TestAdds: copies add nothing, however sure they are, and the more examples differ the more
// each adds, up to as much as the first.
func TestAdds(t *testing.T) {
	sure, unsure := []float64{0.98, 0.01, 0.01}, []float64{0.4, 0.3, 0.3}
	for _, p := range [][]float64{sure, unsure} {
		if apart := Apart(p, 7*entropy(p), 7); apart > 1e-12 || Adds(apart, 0.9) > 1e-10 {
			t.Errorf("seven copies of %v are apart by %g", p, apart)
		}
	}
	opposite := Apart([]float64{0.5, 0.5}, 0, 2) // 1 0 and 0 1
	if math.Abs(opposite-math.Ln2) > 1e-12 {
		t.Errorf("opposites are apart by %g", opposite)
	}
	last := 0.0
	for _, apart := range []float64{0.01, 0.1, 1, 10} {
		adds := Adds(apart, 0.25)
		if adds <= last || adds >= 1 || math.Abs(adds-apart/(apart+3)) > 1e-12 {
			t.Errorf("apart by %g: adds %g", apart, adds)
		}
		last = adds
	}
	if Adds(1, 0) != 0 || Adds(0, 0) != 0 || Adds(0, 1) != 1 {
		t.Error("the ends")
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
				row[i%4] = math.Nextafter32(row[i%4], 9) // copies differ by rounding
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
