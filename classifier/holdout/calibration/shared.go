package calibration

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// sums are the summed log-probabilities of groups of like examples that one fold holds out
// whole, in the order in which groups come.
type sums struct {
	order []groupOf
	of    map[groupOf]*sum
}

type sum struct {
	logProb []float64
	own, n  int
}

func (s *sums) add(class string, group int, a episodes.Answer) {
	key := groupOf{class, group}
	if s.of == nil {
		s.of = map[groupOf]*sum{}
	}
	if s.of[key] == nil {
		s.order = append(s.order, key)
		s.of[key] = &sum{logProb: make([]float64, len(a.LogProb)), own: a.Own}
	}
	floats.Add(s.of[key].logProb, a.LogProb)
	s.of[key].n++
}

// likelihood returns that of the groups of several examples, as if each were one example.
func (s *sums) likelihood() (l temperature.Likelihood) {
	for _, key := range s.order {
		if g := s.of[key]; g.n > 1 {
			l.Add(g.logProb, g.own)
		}
	}
	return l
}

// shared returns the weight w with which the probabilities of groups, those of the sum
// w·Σ log p, are calibrated: examples have the temperature T, sums T/w.
func shared(examples *temperature.Value, groups *temperature.Likelihood) float64 {
	if groups.Len() < fewGroups {
		return 0
	}
	return math.Min(1, examples.T/groups.Minimum().T)
}
