package temperature

import (
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// eceBins is the number of bins of the expected calibration error.
const eceBins = 15

// shares is the number of shares of wrong labels that are compared: none, then ½ % and
// doubling.
const (
	shares     = 8
	firstShare = 0.005
)

// A Share is a share of labels that are wrong, one of those that a Likelihood is kept for;
// 0 is none.
type Share int

// Value returns the share, 0 to 1.
func (s Share) Value() float64 {
	if s == 0 {
		return 0
	}
	return math.Ldexp(firstShare, int(s)-1)
}

// A bin sums examples, those that are named correctly, the probabilities of the winning
// classes, and those that a wrong label has of being such a class.
type bin struct{ n, right, confidence, luck float64 }

// understated returns how many more examples are named correctly than their probabilities say,
// given that a share of the labels is wrong.
func (b bin) understated(wrong float64) float64 {
	return b.right - (1-wrong)*b.confidence - wrong*b.luck
}

// A point is what some examples tell at one T of the grid.
type point struct {
	nll [shares]float64
	// bins hold the examples by the probability of the winning class.
	bins [eceBins]bin
	// rivals sums the mean negative log-probability of the other classes minus that of the
	// own one.
	rivals float64
}

// plus adds a multiple of another point.
func (p *point) plus(other *point, by float64) {
	for s, v := range other.nll {
		p.nll[s] += v * by
	}
	for i, b := range other.bins {
		own := &p.bins[i]
		*own = bin{own.n + b.n*by, own.right + b.right*by, own.confidence + b.confidence*by, own.luck + b.luck*by}
	}
	p.rivals += other.rivals * by
}

// add adds an answer at point g of the grid.
func (p *point) add(a answer, g int) {
	nll, sum := a.tempered(g)
	others := math.Max(1, float64(len(a.logProb)-1))
	p.nll[0] += nll
	own := math.Exp(-nll)
	for s := 1; s < shares; s++ {
		wrong := Share(s).Value()
		p.nll[s] -= math.Log((1-wrong)*own + wrong*(1-own)/others)
	}
	b := &p.bins[min(eceBins-1, int(eceBins/sum))]
	b.n++
	b.confidence += 1 / sum
	b.luck += (1 - 1/sum) / others
	if a.logProb[a.own] == a.largest {
		b.right++
	}
	p.rivals += a.lead * perT(g)
}

// A Likelihood tells the negative log-likelihood of held-out examples at every T of a grid,
// and what else Minimum needs. It is computed where it is asked for, mostly at a few T near
// the lowest. The zero value is empty.
type Likelihood struct {
	n       float64
	answers []answer // not yet in all points
	values  int      // of them
	kinds   []kind
	points  [gridSize]*point // of its own answers and kinds, nil if not computed
	settled bool             // all points are, and answers is empty
}

// A kind is another Likelihood, whose examples count by a factor.
type kind struct {
	of *Likelihood
	by float64
}

// mostValues bounds the log-probabilities that a Likelihood keeps: 64 MiB.
const mostValues = 8 << 20

// Len returns the number of examples.
func (l *Likelihood) Len() int { return int(l.n) }

// Add adds an example of the class in column own, whose log-probabilities a
// head gave.
func (l *Likelihood) Add(logProb []float64, own int) {
	l.n++
	if l.settled {
		a := answerOf(logProb, own)
		for g, p := range l.points {
			p.add(a, g)
		}
		return
	}
	l.points = [gridSize]*point{}
	l.answers = append(l.answers, answerOf(slices.Clone(logProb), own))
	if l.values += len(logProb); l.values > mostValues {
		for g := range gridSize {
			l.at(g)
		}
		l.answers, l.kinds, l.settled = nil, nil, true
	}
}

// at returns the sums at a point of the grid.
func (l *Likelihood) at(g int) *point {
	if l.points[g] != nil {
		return l.points[g]
	}
	p := &point{}
	for _, a := range l.answers {
		p.add(a, g)
	}
	dense.Parallel(len(l.kinds), func(i int) { l.kinds[i].of.at(g) })
	for _, k := range l.kinds {
		p.plus(k.of.at(g), k.by)
	}
	l.points[g] = p
	return p
}

// Merge adds the examples of another Likelihood, which must not change any more.
func (l *Likelihood) Merge(other *Likelihood) { l.merge(other, 1) }

func (l *Likelihood) merge(other *Likelihood, by float64) {
	l.n += other.n * by
	l.kinds, l.points = append(l.kinds, kind{other, by}), [gridSize]*point{}
}

// ece returns the expected calibration error at a point of the grid, given that a share of
// the labels is wrong.
func (l *Likelihood) ece(g int, wrong Share) float64 {
	var sum float64
	for _, b := range l.at(g).bins {
		sum += math.Abs(b.understated(wrong.Value()))
	}
	return sum / max(l.n, 1)
}

// Understated returns by how much more often the winning class is the true one than its
// probability says at v.T, given v.Wrong; negative if it is less often.
func (l *Likelihood) Understated(v *Value) float64 {
	at := func(g int) (sum float64) {
		for _, b := range l.at(g).bins {
			sum += b.understated(v.Wrong)
		}
		return sum / max(l.n, 1) / (1 - v.Wrong)
	}
	place := (math.Log(v.T) - gridFirst) / gridStep
	g := max(0, min(int(place), gridSize-2))
	return at(g) + (place-float64(g))*(at(g+1)-at(g))
}

// Mixed returns a mixture of two kinds of examples in which the second, pooled,
// has the given weight, and the first the rest. A kind without examples leaves
// all of the weight to the other.
func Mixed(first, second *Likelihood, weight float64) Likelihood {
	if first.n == 0 {
		weight = 1
	}
	if second.n == 0 {
		weight = 0
	}
	n := first.n + second.n
	var out Likelihood
	out.merge(first, (1-weight)*n/max(first.n, 1))
	out.merge(second, weight*n/max(second.n, 1))
	return out
}

// Minimum returns the T with the lowest mean negative log-likelihood: a
// parabola goes through the lowest point of the grid and its neighbours. The
// labels of n examples count as right with probability 1 − 1/(n+2) only, the
// rest being spread over the other classes, so that a few examples that are all
// named correctly do not make a head certain (Platt 1999, "Probabilistic Outputs
// for Support Vector Machines", section 2.2). Without a finite likelihood T
// stays 1.
func (l *Likelihood) Minimum() *Value { return l.MinimumWith(0) }

// MinimumWith is Minimum, given that a share of the labels is wrong: T is that of the
// probabilities of the true classes (package comment).
func (l *Likelihood) MinimumWith(wrong Share) *Value {
	best, shift, curve := l.lowest(wrong)
	nll := func(g int) float64 { return l.at(g).nll[wrong] / max(l.n, 1) }
	found := &Value{Before: nll(gridOne), After: nll(best), Wrong: wrong.Value()}
	if math.IsNaN(found.Before+found.After) || math.IsInf(found.Before+found.After, 0) {
		return &Value{T: 1, Fallback: "the held-out examples have no finite likelihood"}
	}
	found.After -= curve * shift * shift / 2
	found.T, found.ECE = between(best, shift), l.ece(best, wrong)
	return found
}

// Wrong returns the most likely share of wrong labels. It is 0 unless another makes the labels
// more probable by ½ log n nats, what one more parameter has to gain (Schwarz 1978,
// "Estimating the Dimension of a Model").
func (l *Likelihood) Wrong() Share {
	best, least := Share(0), l.minimum(0)-math.Log(max(l.n, 1))/2/max(l.n, 1)
	for s := Share(1); s < shares; s++ {
		if loss := l.minimum(s); loss < least {
			best, least = s, loss
		}
	}
	return best
}

// Loss returns the lowest value of what Minimum minimises, the likelihood with labels
// that count as right with probability 1 − 1/(n+2) only. It changes smoothly with the
// answers even where all examples are named correctly, to compare heads by.
func (l *Likelihood) Loss() float64 { return l.minimum(0) }

func (l *Likelihood) minimum(wrong Share) float64 {
	best, shift, curve := l.lowest(wrong)
	return l.loss(wrong, best) - curve*shift*shift/2
}

// loss returns what MinimumWith minimises, at a point of the grid. Where wrong labels cost a
// bounded amount, answers that are mostly wrong must not gain without bound either.
func (l *Likelihood) loss(wrong Share, g int) float64 {
	rivals := l.at(g).rivals
	if wrong > 0 {
		rivals = max(rivals, 0)
	}
	return smoothed(l.at(g).nll[wrong], rivals, l.n)
}

// smoothed returns the mean loss of n examples from the sums of their negative log-likelihoods and
// leads, with labels that count as right with probability 1 − 1/(n+2) only.
func smoothed(nll, leads, n float64) float64 { return (nll + leads/(n+2)) / max(n, 1) }

// lowest returns the point of the grid with the lowest loss, and the vertex there.
func (l *Likelihood) lowest(wrong Share) (best int, shift, curve float64) {
	at := func(g int) float64 { return l.loss(wrong, g) }
	if best = gridOne; wrong == 0 {
		best = descended(at)
	} else {
		for g := range gridSize {
			if at(g) < at(best) {
				best = g
			}
		}
	}
	shift, curve = vertex(at, best)
	return best, shift, curve
}
