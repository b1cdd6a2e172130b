package gptree

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
)

// A Start holds the tree, inducing inputs and kernel that a base session by VI is
// fitted with: deep kernel learning takes it from Config.Start, trains it, and
// passes it to LearnFrom.
type Start struct {
	// Classes are sorted by name; the leaf of Classes[k] is class k of Tree.
	Classes []string
	Tree    *Tree
	// Inducing holds the inducing inputs of every class.
	Inducing [][][]float32
	// Lengthscale and Outputscale belong to the kernel of VI nodes; all nodes
	// share the lengthscale.
	Lengthscale, Outputscale float64
}

// Start returns what Learn starts a base session from: the tree by Config.Tree,
// inducing inputs by k-means, and the kernel of the settings.
func (c Config) Start(ctx context.Context, x blas32.General, y []string) (Start, error) {
	if err := classifier.CheckExamples(x, y, 0); err != nil {
		return Start{}, fmt.Errorf("gptree: start: %w", err)
	}
	rows := exemplars.Table{}.With(x, classifier.GroupByClass(y)).ByClass()
	b, points, err := startVI(ctx, c, baseSession, x.Cols, rows)
	if err != nil {
		return Start{}, fmt.Errorf("gptree: start: %w", err)
	}
	s := Start{Classes: b.classes, Tree: b.tree, Lengthscale: c.Lengthscale, Outputscale: c.Outputscale}
	for _, name := range b.classes {
		s.Inducing = append(s.Inducing, points[name])
	}
	return s, nil
}

// LearnFrom is Learn for the base session under VI, with the tree, the inducing
// inputs and the kernel given. The mean is then zero.
func (h *GPTree) LearnFrom(ctx context.Context, s Start, x blas32.General, y []string) error {
	next, err := h.from(s, x, y)
	if err != nil {
		return fmt.Errorf("gptree: learn: %w", err)
	}
	points := make(map[string]exemplars.Rows)
	for i, name := range s.Classes {
		points[name] = slices.SortedFunc(slices.Values(s.Inducing[i]), exemplars.Compare)
	}
	rows := exemplars.Table{}.With(x, classifier.GroupByClass(y)).ByClass()
	err = next.takeVI(ctx, &vi{classes: s.Classes, tree: s.Tree}, x.Cols, rows, points)
	if err == nil {
		err = h.finish(ctx, next, x, y)
	}
	if err != nil {
		return fmt.Errorf("gptree: learn: %w", err)
	}
	return nil
}

// from returns an unfitted classifier with the kernel of s, which must match the
// examples.
func (h *GPTree) from(s Start, x blas32.General, y []string) (*GPTree, error) {
	if err := classifier.CheckExamples(x, y, 0); err != nil {
		return nil, err
	}
	if len(h.All.Classes) > 0 || h.cfg.Base != BaseVI {
		return nil, fmt.Errorf("base %s with %d classes: a start needs an unfitted classifier with base %s", h.cfg.Base,
			len(h.All.Classes), BaseVI)
	}
	classes := slices.Compact(slices.Sorted(slices.Values(y)))
	if !slices.Equal(classes, s.Classes) || s.Tree == nil || s.Tree.Classes() != len(classes) ||
		len(s.Inducing) != len(classes) {
		return nil, fmt.Errorf("the start has %d classes with inducing inputs of %d; they differ from the %d of the "+
			"examples", len(s.Classes), len(s.Inducing), len(classes))
	}
	for i, in := range s.Inducing {
		if len(in) == 0 || slices.ContainsFunc(in, func(r []float32) bool { return len(r) != x.Cols }) {
			return nil, fmt.Errorf("class %q has no inducing inputs of %d values", classes[i], x.Cols)
		}
	}
	next := &GPTree{cfg: h.cfg, mul: h.mul}
	next.cfg.Lengthscale, next.cfg.Outputscale = s.Lengthscale, s.Outputscale
	next.cfg.Mean = MeanZero // under which they were trained
	return next, next.cfg.Validate()
}

// Settings returns the settings of the classifier.
func (h *GPTree) Settings() Config { return h.cfg }
