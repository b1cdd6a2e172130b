package vargp

import (
	"math"
	"slices"
)

// Constants of Yogi, as given by its authors.
const (
	yogiBeta1 = 0.9
	yogiBeta2 = 0.999
	yogiEps   = 1e-3
	yogiStart = 1e-6 // of both accumulators
)

// yogi is the optimiser of Zaheer et al. 2018: Adam with a second moment that
// changes by at most (1−β₂)g², so that the effective rate cannot grow quickly.
type yogi struct {
	rate float64
	m, v []float64
	step int
}

func newYogi(rate float64, n int) *yogi {
	return &yogi{rate: rate, m: slices.Repeat([]float64{yogiStart}, n), v: slices.Repeat([]float64{yogiStart}, n)}
}

// descend moves p against the gradient g.
func (y *yogi) descend(p, g []float64) {
	y.step++
	c1, c2 := 1-math.Pow(yogiBeta1, float64(y.step)), 1-math.Pow(yogiBeta2, float64(y.step))
	for i, gi := range g {
		g2 := gi * gi
		y.m[i] = yogiBeta1*y.m[i] + (1-yogiBeta1)*gi
		switch {
		case y.v[i] > g2:
			y.v[i] -= (1 - yogiBeta2) * g2
		case y.v[i] < g2:
			y.v[i] += (1 - yogiBeta2) * g2
		}
		p[i] -= y.rate * y.m[i] / c1 / (math.Sqrt(y.v[i]/c2) + yogiEps)
	}
}
