package temperature

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Of returns the T that Likelihood.Minimum finds for examples with these log-probabilities (n×C)
// and own columns, 1 if there are none. The loss is convex in 1/T: it is computed only at the
// points of the grid from T = 1 down to the minimum, in O(nC) each.
func Of(logProb blas64.General, own []int) float64 {
	answers := make([]answer, len(own))
	for i := range answers {
		answers[i] = answerOf(dense.Row(logProb, i), own[i])
	}
	known := map[int]float64{}
	at := func(g int) float64 {
		if _, ok := known[g]; !ok {
			known[g] = loss(answers, g)
		}
		return known[g]
	}
	best := descended(at)
	lowest := at(best)
	if math.IsNaN(lowest) || math.IsInf(lowest, 0) {
		return 1
	}
	shift, _ := vertex(at, best)
	return between(best, shift)
}

// descended returns the lowest point of a loss that is convex in 1/T, by way of those between it
// and T = 1.
func descended(at func(g int) float64) int {
	best := gridOne
	for _, step := range []int{-1, 1} {
		for next := best + step; next >= 0 && next < gridSize && at(next) < at(best); next += step {
			best = next
		}
	}
	return best
}

// loss is Likelihood.loss without wrong labels.
func loss(answers []answer, g int) float64 {
	var nll, leads float64
	for _, a := range answers {
		loss, _ := a.tempered(g)
		nll, leads = nll+loss, leads+a.lead*perT(g)
	}
	return smoothed(nll, leads, float64(len(answers)))
}
