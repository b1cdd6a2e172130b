package ppca

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// ErrNoStatistics says that a class cannot take or lose examples.
var ErrNoStatistics = errors.New("the statistics side file is missing (or statistics were switched off), without which a learned class cannot take or lose examples: put it back beside the model, or forget the class and learn all of its examples again")

// PPCA is a head with one low-rank Gaussian per class.
type PPCA struct {
	cfg     Config  // resolved
	choice  *Choice // of λ; nil before the base session, and where it was given
	dim     int
	classes classifier.Table[class]
	scorer  *scorer // nil before the base session
	mul     linalg.Backend
}

// class is one Gaussian. It is never changed, only replaced.
type class struct {
	n      int
	mean   []float64 // μ
	values []float64 // D, positive, descending
	basis  []float32 // L, one row of d per value
	stats  *moments.Moments
}

var (
	_ classifier.Learner          = (*PPCA)(nil)
	_ classifier.Forgetter        = (*PPCA)(nil)
	_ classifier.SampleForgetter  = (*PPCA)(nil)
	_ classifier.Saver            = (*PPCA)(nil)
	_ classifier.StatisticsKeeper = (*PPCA)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*PPCA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &PPCA{cfg: cfg.Resolve(), mul: linalg.Default()}, nil
}

// UseBackend implements classifier.BackendUser, for fits and scores.
func (h *PPCA) UseBackend(m linalg.Backend) {
	h.mul = m
	if h.scorer != nil {
		h.scorer = newScorer(m, h.chosen(), h.dim, h.classes.Values())
		h.scorer.share(h.classes.Values())
	}
}

// Classes implements classifier.Head.
func (h *PPCA) Classes() []string { return h.classes.Names() }

// Dim implements classifier.Head.
func (h *PPCA) Dim() int { return h.dim }

// Learn implements classifier.Learner. More examples of an old class need the
// statistics; the error wraps ErrNoStatistics when they are missing. With λ
// left to it (Auto), the base session costs about ten times as much; later
// sessions do not change the choice.
func (h *PPCA) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("ppca: learn: %w", err)
	}
	groups := classifier.GroupByClass(y)
	fitted, err := eachGroup(ctx, groups, func(g classifier.Group) (class, error) {
		return h.extend(x, g)
	})
	if err != nil {
		return fmt.Errorf("ppca: learn: %w", err)
	}
	next := *h
	if h.scorer == nil && h.cfg.Lambda == Auto {
		if next.choice, err = h.choose(ctx, x, y); err != nil {
			return fmt.Errorf("ppca: learn: choose lambda: %w", err)
		}
	}
	if err := next.replace(x.Cols, groups, fitted); err != nil {
		return err
	}
	*h = next
	return nil
}

// Forget implements classifier.Forgetter.
func (h *PPCA) Forget(name string) error {
	if _, ok := h.classes.Get(name); !ok {
		return fmt.Errorf("ppca: forget %q: %w", name, classifier.ErrUnknownClass)
	}
	return h.replace(h.dim, []classifier.Group{{Class: name}}, []class{{}})
}

// ForgetSamples implements classifier.SampleForgetter, from the statistics.
func (h *PPCA) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("ppca: forget samples: %w", err)
	}
	groups := classifier.GroupByClass(y)
	fitted, err := eachGroup(context.Background(), groups, func(g classifier.Group) (class, error) {
		return h.shrink(x, g)
	})
	if err != nil {
		return fmt.Errorf("ppca: forget samples: %w", err)
	}
	return h.replace(h.dim, groups, fitted)
}

// eachGroup fits the classes of a session in parallel; of several errors, the
// first in class order is returned.
func eachGroup(ctx context.Context, groups []classifier.Group, fit func(classifier.Group) (class, error)) ([]class, error) {
	fitted, errs := make([]class, len(groups)), make([]error, len(groups))
	dense.Parallel(len(groups), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			fitted[i], errs[i] = fit(groups[i])
		}
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", groups[i].Class, err)
		}
	}
	return fitted, nil
}

// extend fits the class with the examples of g added.
func (h *PPCA) extend(x blas32.General, g classifier.Group) (class, error) {
	stats := moments.New(x.Cols)
	stats.Use(h.mul)
	if old, ok := h.classes.Get(g.Class); ok {
		if old.stats == nil {
			return class{}, ErrNoStatistics
		}
		stats = old.stats.Clone()
		stats.Use(h.mul)
	}
	if err := stats.Give(h.place(x, g.Rows)); err != nil {
		return class{}, err
	}
	return h.fit(stats)
}

// shrink fits the class with the examples of g removed; n = 0 where none is
// left.
func (h *PPCA) shrink(x blas32.General, g classifier.Group) (class, error) {
	old, ok := h.classes.Get(g.Class)
	if !ok {
		return class{}, classifier.ErrUnknownClass
	}
	if old.stats == nil {
		return class{}, ErrNoStatistics
	}
	stats := old.stats.Clone()
	stats.Use(h.mul)
	if err := stats.Remove(h.place(x, g.Rows)); err != nil || stats.N() == 0 {
		return class{}, err
	}
	return h.fit(stats)
}

// place copies rows of x, scaled to length 1 if so configured.
func (h *PPCA) place(x blas32.General, rows []int) blas32.General {
	if *h.cfg.Normalize {
		return classifier.UnitRows(x, rows)
	}
	return dense.Gather32(x, rows)
}

// negligible is the share of λ below which a component says less than the
// rounding of its direction to float32 would add.
const negligible = 1e-9

// fit computes μ, L and D (eq. 2.8, 2.9).
func (h *PPCA) fit(stats *moments.Moments) (class, error) {
	e, err := stats.TopEigen(h.cfg.Q)
	if err != nil {
		return class{}, err
	}
	q, least := len(e.Values), negligible*h.chosen().Lambda
	for q > 0 && e.Values[q-1] < least {
		q--
	}
	c := class{n: stats.N(), mean: stats.Mean(), values: e.Values[:q], basis: make([]float32, q*stats.Dim())}
	for i := range c.basis {
		c.basis[i] = float32(e.Vectors.Data[i])
	}
	if h.cfg.Statistics {
		c.stats = stats
	}
	return c, nil
}

// replace puts fitted classes in their columns, dropping those of n = 0, and
// makes the scorer anew. Nothing changes when that fails.
func (h *PPCA) replace(dim int, groups []classifier.Group, fitted []class) error {
	classes := h.classes.Clone()
	for i, g := range groups {
		if fitted[i].n == 0 {
			classes.Drop(g.Class)
		} else {
			classes.Put(g.Class, fitted[i])
		}
	}
	if classes.Len() == 0 {
		*h = PPCA{cfg: h.cfg, mul: h.mul}
		return nil
	}
	h.dim, h.classes = dim, classes
	h.scorer = newScorer(h.mul, h.chosen(), dim, classes.Values())
	h.scorer.share(classes.Values())
	return nil
}

// Score implements classifier.Head in O(Cqd) per row. The novelty is −max
// log-density, up to a constant that all classes share, or min r without
// log-determinant.
func (h *PPCA) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Score(dst, novelty, x)
}

func (h *PPCA) scoring() classifier.Scoring {
	s := classifier.Scoring{Method: "ppca", Head: h, Novelty: h.novelty}
	if h.scorer != nil {
		s.Scores = h.scorer.batch
	}
	return s
}

// novelty takes −½(r + log|Σ|) of all classes.
func (h *PPCA) novelty(s []float64) float64 {
	if *h.cfg.LogDet {
		return -slices.Max(s)
	}
	return -2 * slices.Max(s)
}
