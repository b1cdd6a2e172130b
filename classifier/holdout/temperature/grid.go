package temperature

import "math"

// The grid of log T.
const (
	gridFirst = -3.0
	gridStep  = 0.125
	gridSize  = 73
	gridOne   = 24 // where log T is 0
)

// perT returns 1/T at a point of the grid.
func perT(g int) float64 { return math.Exp(-gridFirst - gridStep*float64(g)) }

// between returns the T at a shift from a point of the grid.
func between(g int, shift float64) float64 { return math.Exp(gridFirst + gridStep*(float64(g)+shift)) }

// vertex returns how far the minimum of a parabola through a point and its neighbours is from
// the point, and the curvature there; zeros at the ends of the grid and where it is no minimum.
func vertex(at func(g int) float64, g int) (shift, curve float64) {
	if g == 0 || g == gridSize-1 {
		return 0, 0
	}
	left, right := at(g-1)-at(g), at(g+1)-at(g)
	curve = left + right
	if !(curve > 0) || math.IsInf(curve, 0) {
		return 0, 0
	}
	return (left - right) / (2 * curve), curve
}

// An answer is what a head says of a held-out example.
type answer struct {
	logProb       []float64
	own           int
	largest, lead float64 // lead is that of the own class over the mean of the others
}

func answerOf(logProb []float64, own int) answer {
	a := answer{logProb: logProb, own: own, largest: math.Inf(-1)}
	sum := 0.0
	for _, v := range logProb {
		a.largest, sum = max(a.largest, v), sum+v
	}
	if len(logProb) > 1 {
		a.lead = logProb[own] - (sum-logProb[own])/float64(len(logProb)-1)
	}
	return a
}

// tempered returns the negative log-likelihood at a point of the grid, and one over the
// probability of the winning class.
func (a answer) tempered(g int) (nll, sum float64) {
	perT := perT(g)
	for _, v := range a.logProb {
		if z := (v - a.largest) * perT; z > -40 { // smaller terms do not change the last bit
			sum += math.Exp(z)
		}
	}
	return math.Log(sum) - (a.logProb[a.own]-a.largest)*perT, sum
}
