package calibration

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
)

// mostKept bounds the log-probabilities that one fold keeps to see how like examples
// share evidence: 4 MiB.
const mostKept = 1 << 20

// A cluster is a group of like examples that a fold holds out whole: their
// log-probabilities, before the temperature, and the column of their class.
type cluster struct {
	logProb [][]float32
	own     int
}

// clusters are the groups of several examples that one fold holds out, in order.
type clusters struct {
	groups []*cluster
	of     map[groupOf]*cluster
	values int
}

func (c *clusters) add(class string, group int, a episodes.Answer) {
	if c.values += len(a.LogProb); c.values > mostKept {
		return
	}
	if c.of == nil {
		c.of = map[groupOf]*cluster{}
	}
	key := groupOf{class, group}
	if c.of[key] == nil {
		c.of[key] = &cluster{own: a.Own}
		c.groups = append(c.groups, c.of[key])
	}
	row := make([]float32, len(a.LogProb))
	for j, v := range a.LogProb {
		row[j] = float32(v)
	}
	c.of[key].logProb = append(c.of[key].logProb, row)
}

// several returns the groups of more than one example.
func (c *clusters) several() (out []*cluster) {
	for _, g := range c.groups {
		if len(g.logProb) > 1 {
			out = append(out, g)
		}
	}
	return out
}

// Together returns the log-probabilities of what n like examples show, of which mean is the
// mean probability of each class: (1 + (n − 1)·added)·log mean, normalised. added, 0 to 1,
// is how much each further example adds: nothing, or as much as the first.
func Together(dst, mean []float64, n int, added float64) {
	weight := 1 + float64(n-1)*added
	for j, p := range mean {
		dst[j] = weight * math.Log(math.Max(p, math.SmallestNonzeroFloat64))
	}
	floats.AddConst(-floats.LogSumExp(dst), dst)
}

// means returns the mean probability of each class at a temperature.
func (g *cluster) means(T float64) []float64 {
	mean, row := make([]float64, len(g.logProb[0])), make([]float64, len(g.logProb[0]))
	for _, logProb := range g.logProb {
		for j, v := range logProb {
			row[j] = float64(v) / T
		}
		sum := floats.LogSumExp(row)
		for j, v := range row {
			mean[j] += math.Exp(v-sum) / float64(len(g.logProb))
		}
	}
	return mean
}

// addedSteps is the number of steps from 0 to 1 in which added is looked for.
const addedSteps = 40

// added returns how much each further one of like examples adds: what gives held-out groups
// the highest likelihood, with labels that count as right as in temperature.Likelihood. It
// is 0 if there are too few groups to tell.
func added(groups []*cluster, T float64) float64 {
	if len(groups) < fewGroups {
		return 0
	}
	doubt := 1 / float64(len(groups)+2)
	loss := make([]float64, addedSteps+1)
	for _, g := range groups {
		mean := g.means(T)
		logProb := make([]float64, len(mean))
		others := math.Max(1, float64(len(mean)-1))
		for i := range loss {
			Together(logProb, mean, len(g.logProb), float64(i)/addedSteps)
			own := logProb[g.own]
			loss[i] -= (1-doubt)*own + doubt/others*(floats.Sum(logProb)-own)
		}
	}
	return float64(floats.MinIdx(loss)) / addedSteps
}
