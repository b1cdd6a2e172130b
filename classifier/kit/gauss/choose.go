package gauss

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// A Trial says how well held-out examples are told apart with one ε.
type Trial struct {
	Epsilon float64
	// NLL is the mean negative log-likelihood in nats at the best temperature
	// (temperature.Likelihood.Loss), and Accuracy the share that is named correctly.
	NLL, Accuracy float64
}

// trialOf returns the trial of n held-out examples, of which scores returns the
// log-densities and the class.
func trialOf(epsilon float64, n int, scores func(i int) ([]float64, int)) Trial {
	t := Trial{Epsilon: epsilon}
	var likelihood temperature.Likelihood
	for i := range n {
		logDensities, own := scores(i)
		likelihood.Add(logDensities, own)
		if floats.MaxIdx(logDensities) == own {
			t.Accuracy += 1 / float64(n)
		}
	}
	t.NLL = likelihood.Loss()
	return t
}

// shrinkages returns the values of ε to try. Below 0.3 the gain is small, and the
// likelihood of base classes is the wrong guide to later ones.
func shrinkages() []float64 { return []float64{1, 0.95, 0.9, 0.7, 0.5, 0.3} }

// ChooseEpsilon lets ε fall from 1 to 0.3 for as long as the likelihood is worse than
// the best so far by no more than the tolerance, a share: it is flat there, and has a
// slight preference for large ε where accuracy has none. It returns the trials and the
// last ε that is no worse.
func ChooseEpsilon(ctx context.Context, tolerance float64,
	try func(epsilon float64) (Trial, error)) ([]Trial, float64, error) {
	var trials []Trial
	chosen, best := 0.0, math.Inf(1)
	for _, epsilon := range shrinkages() {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		t, err := try(epsilon)
		if err != nil {
			return nil, 0, err
		}
		trials = append(trials, t)
		if chosen > 0 && t.NLL > best*(1+tolerance) {
			break
		}
		chosen, best = epsilon, min(best, t.NLL)
	}
	return trials, chosen, nil
}
