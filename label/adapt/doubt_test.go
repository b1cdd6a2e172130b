package adapt

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestMass: photos are asked in the order of the definition, and settle what it says.
func TestMass(t *testing.T) {
	g, logProb := drawn(t, 90, 4)
	var doubt []float64
	for i, row := range logProb {
		u := 1 - math.Exp(floats.Max(row))
		if i%11 == 0 {
			u = 0 // decided
		}
		doubt = append(doubt, u)
	}
	want := make([]float64, len(g))
	u, asked := slices.Clone(doubt), make([]bool, len(g))
	for range g {
		best, most := -1, math.Inf(-1)
		for i := range g {
			sum := u[i]
			for j := range g {
				for _, e := range g[j] {
					if int(e.to) == i {
						sum += 2 * float64(e.weight) * u[j]
					}
				}
			}
			if !asked[i] && sum > most+1e-12 {
				best, most = i, sum
			}
		}
		asked[best], want[best] = true, most
		u[best] /= 2
		for _, e := range g[best] {
			u[e.to] /= 2
		}
	}
	if got := g.mass(slices.Clone(doubt)); !floats.EqualApprox(got, want, 1e-9) {
		t.Errorf("answers settle\n%v, not\n%v", got, want)
	}
	if got := graph(nil).mass(slices.Clone(doubt)); !slices.Equal(got, doubt) {
		t.Error("without a graph photos do not settle their own doubt alone")
	}
}

// TestGraphAfter: photos of a second part keep their neighbours, under new numbers.
func TestGraphAfter(t *testing.T) {
	a, _ := drawn(t, 20, 2)
	b, _ := drawn(t, 30, 2)
	to, n := b[0][0].to, len(a)
	joined := b.after(a)
	if len(joined) != 50 || joined[n][0].to != to+int32(n) || len(joined[3]) != len(a[3]) {
		t.Errorf("%d photos, the first neighbour of the 21st is %d", len(joined), joined[n][0].to)
	}
}
