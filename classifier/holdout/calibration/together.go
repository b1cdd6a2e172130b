package calibration

import (
	"math"
	"slices"

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

// Apart is by how much n examples differ, 0 to log n nats: the entropy of their mean probability
// less the mean of their entropies (the Jensen-Shannon divergence).
func Apart(mean []float64, entropies float64, n int) float64 {
	return math.Max(0, entropy(mean)-entropies/float64(n))
}

// entropy of probabilities, in nats.
func entropy(p []float64) (h float64) {
	for _, v := range p {
		if v > 0 {
			h -= v * math.Log(v)
		}
	}
	return h
}

// Adds returns how much each further one of like examples adds, which are apart by some nats:
// apart/(apart + k), where added, 0 to 1, is 1/(1 + k). Examples that agree may repeat each
// other; those that differ have errors of their own. With 0 they add nothing, and with 1
// each adds as much as the first.
func Adds(apart, added float64) float64 {
	if added == 1 {
		return 1
	}
	return added * apart / (added*apart + 1 - added)
}

// Together returns the log-probabilities of what n like examples show, of which mean is the
// mean probability of each class: (1 + (n − 1)·adds)·log mean, normalised.
func Together(dst, mean []float64, n int, adds float64) {
	weight := 1 + float64(n-1)*adds
	for j, p := range mean {
		dst[j] = weight * math.Log(math.Max(p, math.SmallestNonzeroFloat64))
	}
	floats.AddConst(-floats.LogSumExp(dst), dst)
}

// means returns the mean probability of each class at a temperature, and by how much the
// examples differ.
func (g *cluster) means(T float64) (mean []float64, apart float64) {
	mean = make([]float64, len(g.logProb[0]))
	row, entropies := make([]float64, len(mean)), 0.0
	for _, logProb := range g.logProb {
		for j, v := range logProb {
			row[j] = float64(v) / T
		}
		sum := floats.LogSumExp(row)
		for j, v := range row {
			row[j] = math.Exp(v - sum)
		}
		floats.AddScaled(mean, 1/float64(len(g.logProb)), row)
		entropies += entropy(row)
	}
	return mean, Apart(mean, entropies, len(g.logProb))
}

// addedSteps is the number of steps from 0 to 1 in which added is looked for.
const addedSteps = 40

// added returns that of Adds which gives held-out groups
// the highest likelihood, with labels that count as right as in temperature.Likelihood. It
// is 0 if there are too few groups to tell.
func added(groups []*cluster, T float64) float64 {
	if len(groups) < fewGroups {
		return 0
	}
	doubt := 1 / float64(len(groups)+2)
	loss := make([]float64, addedSteps+1)
	for _, g := range groups {
		mean, apart := g.means(T)
		logProb := make([]float64, len(mean))
		others := math.Max(1, float64(len(mean)-1))
		for i := range loss {
			Together(logProb, mean, len(g.logProb), Adds(apart, float64(i)/addedSteps))
			own := logProb[g.own]
			loss[i] -= (1-doubt)*own + doubt/others*(floats.Sum(logProb)-own)
		}
	}
	// Copies fit all shares alike but for rounding, which must not choose one.
	least := floats.Min(loss)
	same := func(l float64) bool { return l <= least+1e-9*math.Abs(least) }
	return float64(slices.IndexFunc(loss, same)) / addedSteps
}
