package gptree

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// GPTree is the classifier: a Gaussian process at every split of a tree over
// the classes.
type GPTree struct {
	cfg    Config
	dim    int
	all    members
	fitted variational // none under Gibbs
	choice *Choice     // of the root; nil without calibration
	model  *model      // nil before the base session
	mul    linalg.Backend
}

var (
	_ classifier.Learner         = (*GPTree)(nil)
	_ classifier.Forgetter       = (*GPTree)(nil)
	_ classifier.SampleForgetter = (*GPTree)(nil)
	_ classifier.Hierarchical    = (*GPTree)(nil)
	_ classifier.Saver           = (*GPTree)(nil)
	_ classifier.BackendUser     = (*GPTree)(nil)
)

// New returns an unfitted classifier.
func New(cfg Config) (*GPTree, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &GPTree{cfg: cfg}, nil
}

// UseBackend implements classifier.BackendUser.
func (h *GPTree) UseBackend(m linalg.Backend) {
	h.mul = m
	if h.model == nil {
		return
	}
	if on, err := h.model.on(m); err == nil { // it was fitted before, so this cannot fail
		h.model = on
	}
}

// Classes implements classifier.Head.
func (h *GPTree) Classes() []string { return h.all.Names() }

// Dim implements classifier.Head.
func (h *GPTree) Dim() int { return h.dim }

// Tree returns the tree over the classes and the class of every leaf, or nil
// before the base session.
func (h *GPTree) Tree() (tree *Tree, leaves []string) {
	if h.model == nil {
		return nil, nil
	}
	for _, c := range h.model.column {
		leaves = append(leaves, h.Classes()[c])
	}
	return h.model.tree, leaves
}

// Learn implements classifier.Learner. See the package comment for the cost of
// the base session; a later session refits the nodes of the novel classes and
// the root, and leaves the base unchanged. Under VI, a later session with more
// than Config.MaxPerClass examples of a class is fitted like the base session
// and joined by a root. Classes of such sessions take no more examples: the
// error wraps classifier.ErrUnsupported.
func (h *GPTree) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("gptree: learn: %w", err)
	}
	next := &GPTree{cfg: h.cfg, dim: x.Cols, all: h.all.Clone(), fitted: h.fitted, choice: h.choice, mul: h.mul}
	err := next.take(ctx, x, classifier.GroupByClass(y))
	if err == nil {
		err = h.finish(ctx, next, x, y)
	}
	if err != nil {
		return fmt.Errorf("gptree: learn: %w", err)
	}
	return nil
}

// finish fits the model of next, which has the session (x, y), after calibrating
// it if that is the base session, and then sets h to next.
func (h *GPTree) finish(ctx context.Context, next *GPTree, x blas32.General, y []string) error {
	if h.model == nil && h.cfg.Calibrate {
		if err := next.calibrate(ctx, x, y); err != nil {
			return err
		}
	}
	if err := next.refit(ctx); err != nil {
		return err
	}
	*h = *next
	return nil
}

// take adds a session to the members. Under VI, new classes become inducing
// inputs if the session is the first or too large for Gibbs nodes.
func (h *GPTree) take(ctx context.Context, x blas32.General, groups []classifier.Group) error {
	session := baseSession
	for _, m := range h.all.Values() {
		session = max(session, m.session+1)
	}
	var fresh []classifier.Group
	large := session == baseSession
	for _, g := range groups {
		if old, ok := h.all.Get(g.Class); !ok {
			fresh, large = append(fresh, g), large || len(g.Rows) > h.cfg.MaxPerClass
		} else if err := h.extend(g.Class, old, x, g.Rows); err != nil {
			return err
		}
	}
	if large && h.cfg.Base == BaseVI && len(fresh) > 0 { // inducing inputs stand for them
		classes, rows := byClass(x, fresh)
		b, points, err := startVI(ctx, h.cfg, session, x.Cols, classes, rows)
		if err == nil {
			err = b.fit(ctx, h.cfg, x.Cols, rows, points, h.mul)
		}
		if err != nil {
			return err
		}
		for _, name := range classes {
			h.all.Put(name, points[name])
		}
		h.fitted = append(slices.Clone(h.fitted), b)
		return nil
	}
	for _, g := range fresh {
		if err := h.extend(g.Class, member{session: session}, x, g.Rows); err != nil {
			return err
		}
	}
	return nil
}

// extend adds rows of x to the examples of a class.
func (h *GPTree) extend(name string, old member, x blas32.General, rows []int) error {
	if h.isVariational(old) {
		return fmt.Errorf("class %q belongs to a session whose examples are not stored: learn that session again, or use base gibbs: %w", name, classifier.ErrUnsupported)
	}
	if n := len(old.rows) + len(rows); n > h.cfg.MaxPerClass {
		return fmt.Errorf("class %q would have %d examples, and Gibbs nodes take %d per class (max_per_class): give it fewer, raise the bound, or learn all of them in one session with base vi", name, n, h.cfg.MaxPerClass)
	}
	old.rows = old.rows.Plus(x, rows)
	h.all.Put(name, old)
	return nil
}

// isVariational reports whether only inducing inputs of a class are stored.
func (h *GPTree) isVariational(k member) bool { return h.fitted.of(k.session) != nil }

// refit fits the model of the members.
func (h *GPTree) refit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cfg := h.effective()
	var err error
	h.model, err = assembleModel(cfg, h.dim, &h.all, h.fitted, h.mul, built(ctx, cfg, h.dim, &h.all), sampled(ctx, cfg, h.mul))
	return err
}

// Forget implements classifier.Forgetter. A class of a session fitted by VI
// cannot be removed from its nodes: the error wraps classifier.ErrUnsupported.
func (h *GPTree) Forget(name string) error {
	k, ok := h.all.Get(name)
	if !ok {
		return fmt.Errorf("gptree: forget %q: %w", name, classifier.ErrUnknownClass)
	}
	if h.isVariational(k) {
		return fmt.Errorf("gptree: forget %q: it is part of a session fitted by VI; learn that again without it: %w", name, classifier.ErrUnsupported)
	}
	all := h.all.Clone()
	all.Drop(name)
	return h.replace(all)
}

// ForgetSamples implements classifier.SampleForgetter, with the same limit.
func (h *GPTree) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("gptree: forget samples: %w", err)
	}
	all := h.all.Clone()
	for _, g := range classifier.GroupByClass(y) {
		old, ok := all.Get(g.Class)
		err := classifier.ErrUnknownClass
		switch {
		case ok && h.isVariational(old):
			err = fmt.Errorf("its examples are not stored: %w", classifier.ErrUnsupported)
		case ok:
			old.rows, err = old.rows.Minus(x, g.Rows)
		}
		if err != nil {
			return fmt.Errorf("gptree: forget samples of %q: %w", g.Class, err)
		}
		if len(old.rows) == 0 {
			all.Drop(g.Class)
		} else {
			all.Put(g.Class, old)
		}
	}
	return h.replace(all)
}

// replace refits with other members; with none, the head becomes unfitted.
func (h *GPTree) replace(all members) error {
	if all.Len() == 0 {
		*h = GPTree{cfg: h.cfg, mul: h.mul}
		return nil
	}
	next := &GPTree{cfg: h.cfg, dim: h.dim, all: all, fitted: h.fitted, choice: h.choice, mul: h.mul}
	if err := next.refit(context.Background()); err != nil {
		return fmt.Errorf("gptree: %w", err)
	}
	*h = *next
	return nil
}

// Score implements classifier.Head (eq. 9). The novelty is the variance of the
// latent function relative to its prior variance, averaged over the path to the
// most probable class, root included. With a single class there is no path and
// the novelty is 0.
func (h *GPTree) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Score(dst, novelty, x)
}

// scoring computes log-probabilities and, in one more column, the novelty.
func (h *GPTree) scoring() classifier.Scoring {
	return classifier.Scoring{
		Method: "gptree", Head: h,
		Scores:  func(x blas32.General) (blas64.General, error) { return h.model.predict(x) },
		LogProb: func(dst, scores []float64) { copy(dst, scores) },
		Novelty: func(scores []float64) float64 { return scores[len(scores)-1] },
	}
}

// Hierarchy implements classifier.Hierarchical.
func (h *GPTree) Hierarchy() classifier.Branch {
	tree, leaves := h.Tree()
	if tree == nil || tree.Classes() == 0 {
		return classifier.Branch{}
	}
	// From the last node to the first, so that children come before parents.
	branches := make([]classifier.Branch, len(tree.nodes))
	for i := len(tree.nodes) - 1; i >= 0; i-- {
		if n := tree.nodes[i]; n.Class >= 0 {
			branches[i].Class = leaves[n.Class]
		} else {
			branches[i].Below = []classifier.Branch{branches[n.Left], branches[n.Right]}
		}
	}
	return branches[0]
}
