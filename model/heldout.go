package model

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

const (
	calibrationFolds = 5
	// minCalibration is the minimum number of held-out samples for a threshold:
	// with fewer, 5 % is less than one sample.
	minCalibration = 20
)

// episodeNovelty calibrates on episodes of the batch; the heads learn its
// projections z. The error is an *episodes.TooLittleError if there is too
// little data.
func episodeNovelty(ctx context.Context, fresh func() (classifier.Learner, error), b Batch, z blas32.General, seed uint64) (Calibration, error) {
	cfg := episodes.DefaultConfig()
	cfg.Splits, cfg.Seed = calibrationFolds, seed
	plan, err := episodes.NewPlan(b.X, b.Labels, cfg)
	if err != nil {
		return Calibration{}, err
	}
	bySplit := make([][2][]float64, cfg.Splits)
	err = episodes.HeldOut(ctx, plan, z, b.Labels, fresh, func(split int, a episodes.Answer) {
		held := &bySplit[split][0]
		if a.Novel {
			held = &bySplit[split][1]
		}
		*held = append(*held, a.Novelty)
	})
	if err != nil {
		return Calibration{}, err
	}
	var many, few []float64
	for _, held := range bySplit {
		many, few = append(many, held[0]...), append(few, held[1]...)
	}
	if len(many) < minCalibration || len(few) < minCalibration {
		return Calibration{}, &episodes.TooLittleError{Shots: cfg.Shots}
	}
	if err := checkNovelty(slices.Concat(many, few)); err != nil {
		return Calibration{}, err
	}
	return Calibration{Samples: len(many) + len(few), Quantiles: quantiles(many), Few: quantiles(few), Shots: cfg.Shots}, nil
}

// heldOutNovelty returns the novelty of every sample that cross-validation can
// hold out.
func heldOutNovelty(ctx context.Context, fresh func() (classifier.Learner, error), b Batch, seed uint64) ([]float64, error) {
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
		novelty, err := foldNovelty(ctx, fresh, b, fold, f)
		if err != nil {
			return nil, fmt.Errorf("calibration fold %d: %w", f, err)
		}
		held = append(held, novelty...)
	}
	return held, checkNovelty(held)
}

func checkNovelty(held []float64) error {
	if i := slices.IndexFunc(held, notFinite); i >= 0 {
		return fmt.Errorf("calibration: a held-out sample has novelty %v", held[i])
	}
	return nil
}

// foldNovelty fits on all folds except f and scores fold f.
func foldNovelty(ctx context.Context, fresh func() (classifier.Learner, error), b Batch, fold []int, f int) ([]float64, error) {
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
	head, err := fresh()
	if err != nil {
		return nil, err
	}
	if len(test) == 0 {
		return nil, nil
	}
	if err := head.Learn(ctx, b.rows(train), labels); err != nil {
		return nil, err
	}
	held := make([]float64, 0, len(test))
	return held, classifier.ScoreBatches(head, b.rows(test), func(_ int, _ blas64.General, novelty []float64) error {
		held = append(held, novelty...)
		return nil
	})
}

// folds assigns each sample the fold that holds it out, or −1 for the only
// sample of a class, which every fold trains on. It is stratified, and depends
// on content hashes, labels and seed but not on the order of the samples. A
// class of n samples has at most ⌈n/5⌉ of them in a fold, so every fold trains
// on every class.
func folds(b Batch, seed uint64) []int {
	fold := make([]int, len(b.Labels))
	next := 0
	for _, g := range classifier.GroupByClass(b.Labels) {
		members := g.Rows
		if len(members) == 1 {
			fold[members[0]] = -1
			continue
		}
		slices.SortFunc(members, func(i, j int) int { return bytes.Compare(b.Content[i][:], b.Content[j][:]) })
		rng := random.StreamOf(seed, "model/folds", []string{g.Class})
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for _, i := range members {
			fold[i] = next % calibrationFolds
			next++
		}
	}
	return fold
}
