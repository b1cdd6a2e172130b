package gptree

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// tolerance is the gain in nats per example below which a VI node has converged.
const tolerance = 1e-4

// vi is a session fitted by VI. It is immutable.
type vi struct {
	session int
	classes branch
	tree    *Tree
	nodes   []*gp.VI // none if the mean alone decides
}

// variational holds all sessions fitted by VI, in order. It is immutable.
type variational []*vi

// of returns the fit of a session, or nil if it was not fitted by VI.
func (v variational) of(session int) *vi {
	for _, b := range v {
		if b.session == session {
			return b
		}
	}
	return nil
}

// startVI returns a session with its tree but no nodes yet, and inducing inputs
// by k-means, given the examples of its classes.
func startVI(ctx context.Context, cfg Config, session, dim int, rows map[string]exemplars.Rows) (*vi,
	map[string]exemplars.Rows, error) {
	b := &vi{session: session, classes: slices.Sorted(maps.Keys(rows))}
	var err error
	if b.tree, err = cfg.build(ctx, b.classes, dim, rows); err != nil {
		return nil, nil, err
	}
	points := make([]exemplars.Rows, len(b.classes))
	dense.Parallel(len(points), func(i int) {
		rng := random.StreamOf(cfg.Seed, "gptree/inducing", b.classes[i:i+1])
		points[i] = inducing(rows[b.classes[i]], dim, cfg.Inducing, cfg.Normalize, rng)
	})
	byName := make(map[string]exemplars.Rows, len(points))
	for i, name := range b.classes {
		byName[name] = points[i]
	}
	return b, byName, nil
}

// fit fits the nodes one after the other; each is parallel in itself. With a mean,
// which has seen the examples class after class, they stay only if they pay.
func (b *vi) fit(ctx context.Context, cfg Config, dim int, rows, points map[string]exemplars.Rows, m linalg.Backend,
	mu *mean, s seen) error {
	var means blas64.General
	var v verdict
	if mu != nil {
		if !slices.Contains(s.left, true) { // nothing to judge by
			return nil
		}
		var err error
		columns := mu.columns(b.classes)
		v = s.verdict(columns, mu.temperature)
		if means, err = mu.logOdds(b.tree, columns, s.logProb); err != nil {
			return err
		}
	}
	nodes := make([]*gp.VI, b.tree.Splits())
	first := b.firstRows(rows)
	spans, class := b.tree.Spans()
	for split, span := range spans {
		x, z, left, err := b.gather(cfg, dim, span, class, rows, points)
		if err != nil {
			return err
		}
		var own []int
		var around []float64
		if mu != nil {
			for leaf := span.Lo; leaf < span.Hi; leaf++ {
				own = append(own, dense.Range(first[class[leaf]], first[class[leaf]+1])...)
			}
			for _, r := range own {
				around = append(around, dense.Row(means, r)[split])
			}
		}
		var leftOut []float64
		if nodes[split], leftOut, err = fitNode(ctx, cfg, x, z, left, m, around); err != nil {
			return fmt.Errorf("split %d: %w", split, err)
		}
		v.add(own, leftOut)
	}
	if mu == nil || v.pays() {
		b.nodes = nodes
	}
	return nil
}

// firstRows returns the number of the first example of every class, followed by the
// number of examples.
func (b *vi) firstRows(rows map[string]exemplars.Rows) []int {
	first := make([]int, 1, len(b.classes)+1)
	for _, name := range b.classes {
		first = append(first, first[len(first)-1]+len(rows[name]))
	}
	return first
}

// gather returns the examples and inducing inputs below a split, in leaf order,
// and whether each example is on the left; class is the class of every leaf.
func (b *vi) gather(cfg Config, dim int, span Span, class []int, rows, points map[string]exemplars.Rows) (x,
	z kernel.Points, left []bool, err error) {
	var all, inputs exemplars.Rows
	for leaf := span.Lo; leaf < span.Hi; leaf++ {
		name := b.classes[class[leaf]]
		all, inputs = append(all, rows[name]...), append(inputs, points[name]...)
		for range rows[name] {
			left = append(left, leaf < span.Mid)
		}
	}
	k := cfg.kernel(cfg.Outputscale)
	if x, err = k.Points(all.Matrix(dim, false)); err == nil {
		z, err = k.Points(inputs.Matrix(dim, false))
	}
	return x, z, left, err
}

// fitNode fits one node by full-batch coordinate ascent. Around a mean, it also
// returns the log-probabilities of left-out examples.
func fitNode(ctx context.Context, cfg Config, x, z kernel.Points, left []bool, m linalg.Backend,
	around []float64) (*gp.VI, []float64, error) {
	k := cfg.kernel(cfg.Outputscale)
	v, err := gp.NewVI(k.Gram(z))
	if err != nil {
		return nil, nil, err
	}
	v = v.On(m)
	pair, err := kernel.NewPair(m, x, z)
	if err != nil {
		return nil, nil, err
	}
	knn := make([]float64, x.Len())
	k.Diagonal(knn, x)
	batch, err := v.Batch(k.Values(pair), knn, left)
	if err == nil && around != nil {
		batch, err = batch.Around(around)
	}
	if err != nil {
		return nil, nil, err
	}
	if stride := x.Len() / (perInducing * z.Len()); stride > 1 {
		if err := v.Warm(ctx, batch, warmSteps, stride); err != nil {
			return nil, nil, err
		}
	}
	_, err = v.Fit(ctx, batch, cfg.Iterations, tolerance)
	if err != nil || around == nil {
		return v, nil, err
	}
	leftOut, err := v.LeaveOneOut(batch)
	return v, leftOut, err
}

// If there are more than perInducing examples per inducing input, warmSteps steps
// on about perInducing of them for each come first.
const (
	perInducing = 8
	warmSteps   = 15
)
