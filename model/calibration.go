package model

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
)

const (
	calibrationFolds     = 5
	calibrationQuantiles = 1001
	// minCalibration is the fewest held-out samples that a threshold may
	// stand on: with fewer, 5 % is less than one sample.
	minCalibration = 20
	// calibrationStream names the random stream of the folds.
	calibrationStream = 0x63616c6962726174
)

// A Calibration holds what novelty looks like for samples of known classes
// that the head has not seen: five-fold cross-validation on the base session,
// every fold with a fresh head of the same configuration.
type Calibration struct {
	// Samples is the number of held-out samples behind the quantiles.
	Samples int
	// Quantiles are those of order 0, 0.001, …, 1; nil when there are none.
	Quantiles []float64
	// Reason says why there are none.
	Reason string
}

// Threshold returns the novelty that a share p of known-class samples exceeds,
// by linear interpolation; p = 0 gives +Inf, rejecting nothing. The error says
// why there is no calibration, or that p is not in [0, 1).
func (c Calibration) Threshold(p float64) (float64, error) {
	if !(p >= 0 && p < 1) {
		return 0, fmt.Errorf("rejection share %v: it must be at least 0 and less than 1", p)
	}
	if p == 0 {
		return math.Inf(1), nil
	}
	if len(c.Quantiles) != calibrationQuantiles {
		return 0, fmt.Errorf("no novelty threshold: %s", cmp.Or(c.Reason, "the model was not calibrated"))
	}
	return quantile(c.Quantiles, 1-p), nil
}

// Reject says whether a sample of this novelty is rejected when a share p of
// known-class samples may be. For many samples call Threshold once.
func (m *Model) Reject(novelty, p float64) (bool, error) {
	threshold, err := m.Calibration.Threshold(p)
	return novelty > threshold, err
}

// quantile interpolates linearly between order statistics (Hyndman and Fan's
// type 7, numpy's default).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// calibrate never fails but for ctx: what prevents a calibration becomes its
// Reason.
func calibrate(ctx context.Context, create creator, b Batch, seed uint64) (Calibration, error) {
	held, err := heldOutNovelty(ctx, create, b, seed)
	if ctx.Err() != nil {
		return Calibration{}, ctx.Err()
	}
	if err != nil {
		return Calibration{Reason: err.Error()}, nil
	}
	slices.Sort(held)
	quantiles := make([]float64, calibrationQuantiles)
	for i := range quantiles {
		quantiles[i] = quantile(held, float64(i)/(calibrationQuantiles-1))
	}
	slices.Sort(quantiles) // interpolation may break ties by a last bit
	return Calibration{Samples: len(held), Quantiles: quantiles}, nil
}

func heldOutNovelty(ctx context.Context, create creator, b Batch, seed uint64) ([]float64, error) {
	fold := folds(b, seed)
	n := 0
	for _, f := range fold {
		if f >= 0 {
			n++
		}
	}
	if n < minCalibration {
		return nil, fmt.Errorf("calibration needs at least %d base samples in classes of two or more, there are %d", minCalibration, n)
	}
	held := make([]float64, 0, n)
	for f := range calibrationFolds {
		novelty, err := foldNovelty(ctx, create, b, fold, f)
		if err != nil {
			return nil, fmt.Errorf("calibration fold %d: %w", f, err)
		}
		held = append(held, novelty...)
	}
	for _, v := range held {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("calibration: a held-out sample has novelty %v", v)
		}
	}
	return held, nil
}

// foldNovelty fits on everything but fold f and scores fold f.
func foldNovelty(ctx context.Context, create creator, b Batch, fold []int, f int) ([]float64, error) {
	var train, test []int
	var labels []string
	for i, of := range fold {
		if of == f {
			test = append(test, i)
			continue
		}
		train = append(train, i)
		labels = append(labels, b.Labels[i])
	}
	head, err := create()
	if err != nil {
		return nil, err
	}
	scorer, ok := classifier.As[classifier.Noveltier](head)
	if !ok {
		return nil, fmt.Errorf("the method gives no novelty: %w", classifier.ErrUnsupported)
	}
	if len(test) == 0 {
		return nil, nil
	}
	if err := head.Learn(ctx, b.rows(train), labels); err != nil {
		return nil, err
	}
	dst := make([]float64, len(test))
	return dst, scorer.Novelty(dst, b.rows(test))
}

// folds gives each sample the fold that holds it out, −1 for a class's only
// sample, which every fold trains on. It is stratified, and depends on content
// hashes, labels and seed but not on the order of the samples. A class of n has
// at most ⌈n/5⌉ samples in a fold, so every fold trains on every class.
func folds(b Batch, seed uint64) []int {
	byClass := map[string][]int{}
	for i, label := range b.Labels {
		byClass[label] = append(byClass[label], i)
	}
	names := make([]string, 0, len(byClass))
	for name := range byClass {
		names = append(names, name)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(seed, calibrationStream))
	fold := make([]int, len(b.Labels))
	next := 0
	for _, name := range names {
		members := byClass[name]
		if len(members) == 1 {
			fold[members[0]] = -1
			continue
		}
		slices.SortFunc(members, func(i, j int) int { return bytes.Compare(b.Content[i][:], b.Content[j][:]) })
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for _, i := range members {
			fold[i] = next % calibrationFolds
			next++
		}
	}
	return fold
}
