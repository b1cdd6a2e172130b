package gptree

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/exemplars"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// tolerance is the gain in nats per example below which a VI node has converged.
const tolerance = 1e-4

// vi is a session fitted by VI. It is immutable.
type vi struct {
	session int
	classes branch
	tree    *Tree
	nodes   []*gp.VI
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
func startVI(ctx context.Context, cfg Config, session, dim int, rows map[string]exemplars.Rows) (*vi, map[string]exemplars.Rows, error) {
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

// fit fits the nodes one after the other; each is parallel in itself.
func (b *vi) fit(ctx context.Context, cfg Config, dim int, rows, points map[string]exemplars.Rows, m linalg.Backend) error {
	m = linalg.OrDefault(m)
	b.nodes = make([]*gp.VI, b.tree.Splits())
	spans, class := b.tree.Spans()
	for s, span := range spans {
		x, z, left, err := b.gather(cfg, dim, span, class, rows, points)
		if err != nil {
			return err
		}
		if b.nodes[s], err = fitNode(ctx, cfg, x, z, left, m); err != nil {
			return fmt.Errorf("split %d: %w", s, err)
		}
	}
	return nil
}

// gather returns the examples and inducing inputs below a split, in leaf order,
// and whether each example is on the left; class is the class of every leaf.
func (b *vi) gather(cfg Config, dim int, span Span, class []int, rows, points map[string]exemplars.Rows) (x, z kernel.Points, left []bool, err error) {
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

// fitNode fits one node by full-batch coordinate ascent.
func fitNode(ctx context.Context, cfg Config, x, z kernel.Points, left []bool, m linalg.Backend) (*gp.VI, error) {
	k := cfg.kernel(cfg.Outputscale)
	kmm, err := k.Gram(z)
	if err != nil {
		return nil, err
	}
	v, err := gp.NewVI(kmm)
	if err != nil {
		return nil, err
	}
	v = v.On(m)
	pair, err := kernel.NewPair(m, x, z)
	if err != nil {
		return nil, err
	}
	knn := make([]float64, x.Len())
	k.Diagonal(knn, x)
	batch, err := v.Batch(k.Values(pair), knn, left)
	if err != nil {
		return nil, err
	}
	if stride := x.Len() / (perInducing * z.Len()); stride > 1 {
		if err := v.Warm(ctx, batch, warmSteps, stride); err != nil {
			return nil, err
		}
	}
	_, err = v.Fit(ctx, batch, cfg.Iterations, tolerance)
	return v, err
}

// If there are more than perInducing examples per inducing input, warmSteps steps
// on about perInducing of them for each come first.
const (
	perInducing = 8
	warmSteps   = 15
)
