// Package labelnoise tells how many of some labels are wrong, and how probably each is.
//
// A model that has not learned an example gives its class y the probability p(y|x). If a
// share ε of the labels is wrong, each other class being as likely, the label is y with
//
//	(1−ε) p(y|x) + ε (1−p(y|x))/(C−1)
//
// Hard photos do not count as wrong labels: that the model finds them hard is in p. Where
// labels are wrong, the temperature that was fitted to them is too high, so that p is
// sharpened by an exponent β, not known either: without β half of the wrong labels are
// missed (docs/results/promises.md).
//
// How precisely ε is known depends on how many photos the model recognises: of 215 labels
// of which it names a third right, 11 wrong ones look like 2 to 26 if p is exactly right.
// ε is therefore given as the mode of its posterior, with an interval. A priori it is
// exponentially distributed with the mean that Northcutt, Athalye and Mueller 2021
// ("Pervasive Label Errors in Test Sets Destabilize Machine Learning Benchmarks") found in
// ten test sets, and log β is uniform.
package labelnoise

import (
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// The grid of log β.
	first, step, size = -1.2, 0.2, 15
	// mostRows bounds the examples that the fit looks at; of more, an even selection is.
	mostRows = 20_000
	// least is the smallest probability of a label: a model is never that sure.
	least = 1e-12
	// expected is the mean share of wrong labels a priori.
	expected = 0.033
	// The posterior of ε is integrated over cells from 0 to mostWrong; the first ends at
	// firstCell, and the others grow by a factor.
	cells     = 160
	firstCell = 1e-5
	mostWrong = 0.9
	// tail is the probability on either side of the interval.
	tail = 0.025
)

// Labels are given classes and what models that have not learned them say of these.
type Labels struct {
	classes int
	own     [][size]float32 // p(y|x) at every β
}

// Add adds a label: the class in column given, and the log-probabilities of all classes.
func (l *Labels) Add(logProb []float64, given int) {
	l.classes = max(l.classes, len(logProb))
	l.own = append(l.own, sharpened(logProb, given))
}

// Len returns the number of labels.
func (l *Labels) Len() int { return len(l.own) }

func sharpened(logProb []float64, given int) (out [size]float32) {
	for k := range out {
		out[k] = float32(at(logProb, given, beta(k)))
	}
	return out
}

func beta(k int) float64 { return math.Exp(first + step*float64(k)) }

// at returns the probability of a class at an exponent.
func at(logProb []float64, given int, beta float64) float64 {
	largest, sum := math.Inf(-1), 0.0
	for _, v := range logProb {
		largest = max(largest, v)
	}
	for _, v := range logProb {
		sum += math.Exp(beta * (v - largest))
	}
	return math.Exp(beta*(logProb[given]-largest)) / sum
}

// A Noise is what labels tell. The zero value knows of no wrong ones.
type Noise struct {
	// Share of the labels is wrong, most probably; with a probability of 95 % it is between
	// Low and High. Sharpness is β.
	Share, Low, High, Sharpness float64

	classes int
	grid    int // of Sharpness
}

// Fit returns the share of wrong labels. Cost: the labels × 15 exponents × 160 shares.
func (l *Labels) Fit() Noise {
	if len(l.own) == 0 || l.classes < 2 {
		return Noise{}
	}
	edge := edges(l.classes)
	logs := make([][]float64, size)
	dense.Parallel(size, func(k int) { logs[k] = l.logPosterior(k, edge) })
	largest := math.Inf(-1)
	for _, row := range logs {
		largest = max(largest, slices.Max(row))
	}
	best, density, mass := 0, make([]float64, cells), make([]float64, cells)
	for j := range density {
		for k := range size {
			density[j] += math.Exp(logs[k][j] - largest)
		}
		mass[j] = density[j] * (edge[j+1] - edge[j])
		if density[j] > density[best] {
			best = j
		}
	}
	n := Noise{Share: middle(edge, best), classes: l.classes}
	n.Low, n.High = quantile(mass, edge, tail), quantile(mass, edge, 1-tail)
	for k := range size {
		if logs[k][best] > logs[n.grid][best] {
			n.grid = k
		}
	}
	n.Sharpness = beta(n.grid)
	return n
}

func middle(edge []float64, j int) float64 { return (edge[j] + edge[j+1]) / 2 }

// edges returns the ends of the cells. More than (C−1)/C of the labels are not wrong: the
// label would tell against its class.
func edges(classes int) []float64 {
	e := make([]float64, cells+1)
	top := min(mostWrong, float64(classes-1)/float64(classes))
	for j := 1; j <= cells; j++ {
		e[j] = firstCell * math.Pow(top/firstCell, float64(j-1)/(cells-1))
	}
	return e
}

// product is how many probabilities are multiplied before the logarithm is taken; each is
// at least about 1e-12.
const product = 16

// logPosterior returns, at one β, the logarithm of the density of the shares in the middle
// of the cells, up to a constant.
func (l *Labels) logPosterior(k int, edge []float64) []float64 {
	stride := (len(l.own) + mostRows - 1) / mostRows
	var p []float64
	for i := 0; i < len(l.own); i += stride {
		p = append(p, max(float64(l.own[i][k]), least))
	}
	logs := make([]float64, cells)
	for j := range logs {
		share := middle(edge, j)
		other := share / float64(l.classes-1)
		logs[j] = -share / expected
		for some := range slices.Chunk(p, product) {
			likelihood := 1.0
			for _, v := range some {
				likelihood *= (1-share)*v + other*(1-v)
			}
			logs[j] += math.Log(likelihood)
		}
	}
	return logs
}

// quantile returns the share below which a part of the mass of the cells lies, the last edge if the
// mass is NaN: there gonum's stat.Quantile, which interpolates in the same way, panics.
func quantile(mass, edge []float64, part float64) float64 {
	sum := 0.0
	for _, m := range mass {
		sum += m
	}
	left := part * sum
	for j, m := range mass {
		if left < m {
			return edge[j] + (edge[j+1]-edge[j])*left/m
		}
		left -= m
	}
	return edge[cells]
}

// wrong is the probability that a label of probability p is wrong.
func wrong(share, p float64, classes int) float64 {
	p = max(p, least)
	other := share * (1 - p) / float64(classes-1)
	return other / (other + (1-share)*p)
}

// Wrong returns how probably label i is wrong, in the order in which they were added.
func (l *Labels) Wrong(n Noise, i int) float64 {
	if n.classes < 2 {
		return 0
	}
	return wrong(n.Share, float64(l.own[i][n.grid]), n.classes)
}

// Wrong returns how probably a label is wrong that the fit did not look at.
func (n Noise) Wrong(logProb []float64, given int) float64 {
	if n.classes < 2 {
		return 0
	}
	return wrong(n.Share, at(logProb, given, n.Sharpness), n.classes)
}
