package temperature

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
)

// The grid of log T.
const (
	gridFirst = -3.0
	gridStep  = 0.125
	gridSize  = 73
	gridOne   = 24 // where log T is 0
)

// maxScores bounds the scores of the held-out examples of a split: examples ×
// classes.
const maxScores = 4 << 20

// A tally accumulates the held-out examples of one split and one kind.
type tally struct {
	n   float64
	nll [gridSize]float64
}

// Fit finds T for a base session: row i of z, which heads made by fresh learn,
// is an example of class y[i]. The episodes are drawn from x, the embeddings
// that z was projected from, or z itself. If the session is too small, the
// temperature is 1 and Fallback gives the reason.
func Fit(ctx context.Context, x, z blas32.General, y []string, fresh func() (classifier.Learner, error)) (*Value, error) {
	cfg := episodes.DefaultConfig()
	cfg.Splits = 5
	classes := len(classifier.GroupByClass(y))
	cfg.TestPerClass = max(1, min(cfg.TestPerClass, maxScores/(classes*classes)))
	plan, err := episodes.NewPlan(x, y, cfg)
	var little *episodes.TooLittleError
	if errors.As(err, &little) {
		return &Value{T: 1, Fallback: little.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	bySplit := make([][2]tally, cfg.Splits)
	err = episodes.HeldOut(ctx, plan, z, y, fresh, func(split int, a episodes.Answer) {
		bySplit[split][kind(a.Novel)].add(a)
	})
	if err != nil {
		return nil, err
	}
	v := minimum(loss(bySplit, cfg.NovelShare))
	v.Config = &cfg
	return v, nil
}

func kind(novel bool) int {
	if novel {
		return 1
	}
	return 0
}

// add adds one example at every T of the grid.
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
			if z := (v - largest) * perT; z > -40 { // smaller terms do not change the last bit
				sum += math.Exp(z)
			}
		}
		t.nll[g] += math.Log(sum) - (a.LogProb[a.Own]-largest)*perT
	}
}

// loss returns the mean negative log-likelihood on the grid; the classes
// learned from a few shots have half of novelShare as their weight. Sessions
// add them one by one, so that on average their share is half of what it is at
// the end.
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
	if total[0].n == 0 { // the other classes have only one example each, so none is held out
		weight = [2]float64{0, 1}
	}
	for k, t := range total {
		for g, v := range t.nll {
			nll[g] += weight[k] * v / max(t.n, 1)
		}
	}
	return nll
}

// minimum fits a parabola through the lowest point of the grid and its
// neighbours. Without a finite likelihood T stays 1.
func minimum(nll [gridSize]float64) *Value {
	best := gridOne
	for g, v := range nll {
		if v < nll[best] {
			best = g
		}
	}
	found := &Value{Before: nll[gridOne], After: nll[best]}
	at := float64(best)
	if best > 0 && best < gridSize-1 {
		left, right := nll[best-1]-nll[best], nll[best+1]-nll[best]
		if curve := left + right; curve > 0 && !math.IsInf(curve, 0) {
			shift := (left - right) / (2 * curve)
			at += shift
			found.After -= curve * shift * shift / 2
		}
	}
	found.T = math.Exp(gridFirst + gridStep*at)
	if math.IsNaN(found.Before+found.After) || math.IsInf(found.Before+found.After, 0) {
		return &Value{T: 1, Fallback: "the held-out examples of the pseudo-sessions have no finite likelihood"}
	}
	return found
}
