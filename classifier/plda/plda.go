package plda

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// PLDA is a two-covariance head.
type PLDA struct {
	cfg     Config
	choice  *Choice      // of ε; nil before the base session, and where it was given
	space   *gauss.Space // nil before the base session; never changed
	classes classifier.Table[class]
	stack   *gauss.Stack
	mul     linalg.Backend
}

// class is one class, with what scoring needs of it. It is never changed,
// only replaced.
type class struct {
	moments.Total
	density *gauss.Density
}

var (
	_ classifier.Learner         = (*PLDA)(nil)
	_ classifier.Forgetter       = (*PLDA)(nil)
	_ classifier.SampleForgetter = (*PLDA)(nil)
	_ classifier.Saver           = (*PLDA)(nil)
	_ classifier.BackendUser     = (*PLDA)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*PLDA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &PLDA{cfg: cfg, mul: linalg.Default()}, nil
}

// UseBackend implements classifier.BackendUser, for fits and scores. A
// fitted head is made ready anew, to be the same to the last bit as one that
// was learned with m; where m fails at that, it stays with what it had.
func (h *PLDA) UseBackend(m linalg.Backend) {
	next := *h
	next.mul = m
	if h.space == nil {
		*h = next
		return
	}
	totals := make([]moments.Total, h.classes.Len())
	for i, c := range h.classes.Values() {
		totals[i] = c.Total
	}
	if next.replace(h.space.On(m), classifier.Named(h.Classes()), totals) == nil {
		*h = next
	}
}

// Classes implements classifier.Head.
func (h *PLDA) Classes() []string { return h.classes.Names() }

// Dim implements classifier.Head.
func (h *PLDA) Dim() int {
	if h.space == nil {
		return 0
	}
	return h.space.Dim()
}

// Learn implements classifier.Learner: O(nd² + d³) for the base session, O(d²)
// a class afterwards. With ε left to it (Auto), the base session costs about
// ten times that; later sessions do not change the choice.
func (h *PLDA) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.Dim()); err != nil {
		return fmt.Errorf("%s: learn: %w", h.cfg.method(), err)
	}
	groups, totals := h.extended(x, y)
	sp, choice := h.space, h.choice
	if sp == nil {
		var err error
		if sp, choice, err = h.fitBase(ctx, x, y, groups, totals); err != nil {
			return fmt.Errorf("%s: learn: %w", h.cfg.method(), err)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: learn: %w", h.cfg.method(), err)
	}
	if err := h.replace(sp, groups, totals); err != nil {
		return err
	}
	h.choice = choice
	return nil
}

// extended returns the classes of a session and their totals with it.
func (h *PLDA) extended(x blas32.General, y []string) ([]classifier.Group, []moments.Total) {
	groups := classifier.GroupByClass(y)
	totals := make([]moments.Total, len(groups))
	for i, g := range groups {
		old, _ := h.classes.Get(g.Class)
		totals[i] = old.Plus(classifier.Placed(x, g.Rows, true))
	}
	return groups, totals
}

// fitBase computes the shared part, and chooses ε if that is left to it.
func (h *PLDA) fitBase(ctx context.Context, x blas32.General, y []string, groups []classifier.Group, totals []moments.Total) (*gauss.Space, *Choice, error) {
	b, err := gauss.Fit(ctx, h.mul, x, groups, totals)
	if err != nil {
		return nil, nil, err
	}
	epsilon := h.cfg.Epsilon
	var choice *Choice
	if h.cfg.auto() {
		if choice, err = h.choose(ctx, x, y); err != nil {
			return nil, nil, fmt.Errorf("choose epsilon: %w", err)
		}
		epsilon = choice.Value
	}
	sp, err := h.cfg.space(b, epsilon)
	return sp, choice, err
}

// Forget implements classifier.Forgetter.
func (h *PLDA) Forget(name string) error {
	if _, ok := h.classes.Get(name); !ok {
		return fmt.Errorf("%s: forget %q: %w", h.cfg.method(), name, classifier.ErrUnknownClass)
	}
	return h.replace(h.space, []classifier.Group{{Class: name}}, make([]moments.Total, 1))
}

// ForgetSamples implements classifier.SampleForgetter.
func (h *PLDA) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.Dim()); err != nil {
		return fmt.Errorf("%s: forget samples: %w", h.cfg.method(), err)
	}
	groups := classifier.GroupByClass(y)
	totals := make([]moments.Total, len(groups))
	for i, g := range groups {
		old, ok := h.classes.Get(g.Class)
		err := classifier.ErrUnknownClass
		if ok {
			totals[i], err = old.Minus(classifier.Placed(x, g.Rows, true), 1)
		}
		if err != nil {
			return fmt.Errorf("%s: forget samples of %q: %w", h.cfg.method(), g.Class, err)
		}
	}
	return h.replace(h.space, groups, totals)
}

// replace puts new totals in their columns, dropping classes without
// examples, and makes the stack anew. Nothing changes on error.
func (h *PLDA) replace(sp *gauss.Space, groups []classifier.Group, totals []moments.Total) error {
	densities, err := densitiesOf(sp, totals)
	if err != nil {
		return fmt.Errorf("%s: %w", h.cfg.method(), err)
	}
	classes := h.classes.Clone()
	for i, g := range groups {
		if totals[i].N == 0 {
			classes.Drop(g.Class)
		} else {
			classes.Put(g.Class, class{totals[i], densities[i]})
		}
	}
	if classes.Len() == 0 {
		*h = PLDA{cfg: h.cfg, mul: h.mul}
		return nil
	}
	h.space, h.classes, h.stack = sp, classes, stacked(sp, classes.Values())
	return nil
}

// densitiesOf returns the predictive densities of totals; of a total without
// examples, nothing that means anything.
func densitiesOf(sp *gauss.Space, totals []moments.Total) ([]*gauss.Density, error) {
	means := dense.New(len(totals), sp.Dim())
	for i, t := range totals {
		copy(means.Data[i*means.Stride:], t.Mean())
	}
	white, err := sp.Whitened(means)
	if err != nil {
		return nil, err
	}
	classes := make([]gauss.Class, len(totals))
	for i, t := range totals {
		classes[i] = gauss.Class{N: t.N, Mean: white.Data[i*white.Stride : i*white.Stride+white.Cols], Noise: 1}
	}
	return sp.Densities(classes)
}

// stacked makes the scorer of classes, which then share its memory.
func stacked(sp *gauss.Space, classes []class) *gauss.Stack {
	densities := make([]*gauss.Density, len(classes))
	for i, c := range classes {
		densities[i] = c.density
	}
	stack := sp.Stack(densities)
	for i, p := range stack.Densities() {
		classes[i].density = p
	}
	return stack
}

// Score implements classifier.Head in O(d² + Cd) per row. The novelty is −max
// log-density, up to a constant that all classes share.
func (h *PLDA) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Score(dst, novelty, x)
}

func (h *PLDA) scoring() classifier.Scoring {
	return classifier.Scoring{Method: h.cfg.method(), Head: h, Scores: h.logDensities}
}

// logDensities returns those of a few rows (n×C).
func (h *PLDA) logDensities(x blas32.General) (blas64.General, error) {
	white, err := h.space.Whitened(classifier.Placed(x, classifier.Range(0, x.Rows), true))
	if err != nil {
		return white, err
	}
	return h.stack.LogDensities(white)
}
