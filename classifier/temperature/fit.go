package temperature

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
)

// A Fit is a temperature and how it was found, as it is recorded.
type Fit struct {
	Temperature float64 `json:"temperature"`
	// Before and After are the negative log-likelihoods of the held-out
	// examples in nats, at T = 1 and at Temperature.
	Before float64 `json:"nll_before"`
	After  float64 `json:"nll_after"`
	// Config is how the pseudo-sessions were drawn, nil where there were none.
	Config *episodes.Config `json:"pseudo_sessions,omitempty"`
	// Fallback is why Temperature is 1.
	Fallback string `json:"fallback,omitempty"`
}

// The grid of log T.
const (
	gridFirst = -3.0
	gridStep  = 0.125
	gridSize  = 73
	gridOne   = 24 // where log T is 0
)

// maxScores bounds the scores of held-out examples of a split, examples ×
// classes.
const maxScores = 4 << 20

// A tally sums up the held-out examples of one split and one kind.
type tally struct {
	n   float64
	nll [gridSize]float64
}

// fit finds T for a base session with heads that unfitted makes.
func fit(ctx context.Context, x blas32.General, y []string, unfitted func() (classifier.Learner, error)) (*Fit, error) {
	cfg := episodes.DefaultConfig()
	cfg.Splits = 5
	classes := len(classifier.GroupByClass(y))
	cfg.TestPerClass = max(1, min(cfg.TestPerClass, maxScores/(classes*classes)))
	bySplit := make([][2]tally, cfg.Splits)
	err := episodes.HeldOut(ctx, x, y, cfg, unfitted, func(split int, a episodes.Answer) {
		bySplit[split][kind(a.Novel)].add(a)
	})
	var little *episodes.TooLittleError
	if errors.As(err, &little) {
		return &Fit{Temperature: 1, Fallback: little.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	f := minimum(loss(bySplit, cfg.NovelShare))
	f.Config = &cfg
	return f, nil
}

func kind(novel bool) int {
	if novel {
		return 1
	}
	return 0
}

// add takes in one example at every T of the grid.
func (t *tally) add(a episodes.Answer) {
	largest := math.Inf(-1)
	for _, v := range a.LogProb {
		largest = max(largest, v)
	}
	t.n++
	for g := range t.nll {
		perT := math.Exp(-gridFirst - gridStep*float64(g))
		var sum float64
		for _, v := range a.LogProb {
			if z := (v - largest) * perT; z > -40 { // the rest is below the last bit
				sum += math.Exp(z)
			}
		}
		t.nll[g] += math.Log(sum) - (a.LogProb[a.Own]-largest)*perT
	}
}

// loss is the mean negative log-likelihood on the grid, a share of it that of
// the classes with a few shots. The sessions that bring these come one by one:
// on average over their course the share is half of what it is at the end.
func loss(bySplit [][2]tally, novelShare float64) (nll [gridSize]float64) {
	var total [2]tally
	for _, split := range bySplit {
		for k, t := range split {
			total[k].n += t.n
			for g, v := range t.nll {
				total[k].nll[g] += v
			}
		}
	}
	weight := [2]float64{1 - novelShare/2, novelShare / 2}
	if total[0].n == 0 { // every other class has one example, and none to hold out
		weight = [2]float64{0, 1}
	}
	for k, t := range total {
		for g, v := range t.nll {
			nll[g] += weight[k] * v / max(t.n, 1)
		}
	}
	return nll
}

// minimum puts a parabola through the least point of the grid and its
// neighbours. Without a finite likelihood T stays 1.
func minimum(nll [gridSize]float64) *Fit {
	best := gridOne
	for g, v := range nll {
		if v < nll[best] {
			best = g
		}
	}
	f := &Fit{Before: nll[gridOne], After: nll[best]}
	at := float64(best)
	if best > 0 && best < gridSize-1 {
		left, right := nll[best-1]-nll[best], nll[best+1]-nll[best]
		if curve := left + right; curve > 0 && !math.IsInf(curve, 0) {
			shift := (left - right) / (2 * curve)
			at += shift
			f.After -= curve * shift * shift / 2
		}
	}
	f.Temperature = math.Exp(gridFirst + gridStep*at)
	if math.IsNaN(f.Before+f.After) || math.IsInf(f.Before+f.After, 0) {
		return &Fit{Temperature: 1, Fallback: "the held-out examples of the pseudo-sessions have no finite likelihood"}
	}
	return f
}
