package shrinkage

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// ErrNoStatistics says that a class cannot take or lose examples.
var ErrNoStatistics = errors.New("the statistics side file is missing (or statistics were switched off), without which a learned class cannot take or lose examples: put it back beside the model, or forget the class and learn all of its examples again")

// A Head is one of the family: plda+ or ppca-eb.
type Head struct {
	method  string
	cfg     Config
	setting Setting // in force; zero before the base session
	choice  *Choice // nil where nothing was chosen, or not yet
	space   *gauss.Space
	classes classifier.Table[class]
	scorer  *scorer
	mul     linalg.Backend
}

var (
	_ classifier.Learner          = (*Head)(nil)
	_ classifier.Forgetter        = (*Head)(nil)
	_ classifier.SampleForgetter  = (*Head)(nil)
	_ classifier.Saver            = (*Head)(nil)
	_ classifier.StatisticsKeeper = (*Head)(nil)
	_ classifier.BackendUser      = (*Head)(nil)
)

// New returns an unfitted head that calls itself method, PLDAPlus or PPCAEB.
func New(method string, cfg Config) (*Head, error) {
	if err := checkMethod(method); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Head{method: method, cfg: cfg, mul: linalg.Default()}, nil
}

// UseBackend implements classifier.BackendUser, for fits and
// scores. A fitted head is made ready anew, to be the same to the last bit as one
// that was learned with m; where m fails at that, it stays with what it had.
func (h *Head) UseBackend(m linalg.Backend) {
	next := *h
	next.mul = m
	if h.space == nil {
		*h = next
		return
	}
	next.space = h.space.On(m)
	if next.replace(classifier.Named(h.Classes()), h.classes.Values()) == nil {
		*h = next
	}
}

// Classes implements classifier.Head.
func (h *Head) Classes() []string { return h.classes.Names() }

// Dim implements classifier.Head.
func (h *Head) Dim() int {
	if h.space == nil {
		return 0
	}
	return h.space.Dim()
}

// Setting returns what is in force, zero before the base session.
func (h *Head) Setting() Setting { return h.setting }

// Learn implements classifier.Learner. The first session is the base session:
// its classes are base classes for good, and it alone decides on the setting.
// More examples of an old class need the statistics; the error wraps
// ErrNoStatistics when they are missing.
func (h *Head) Learn(ctx context.Context, x blas32.General, y []string) error {
	next, err := h.learned(ctx, x, y)
	if err != nil {
		return fmt.Errorf("%s: learn: %w", h.method, err)
	}
	*h = *next
	return nil
}

func (h *Head) learned(ctx context.Context, x blas32.General, y []string) (*Head, error) {
	if err := classifier.CheckExamples(x, y, h.Dim()); err != nil {
		return nil, err
	}
	groups := classifier.GroupByClass(y)
	totals := h.extended(x, groups)
	next := *h
	var err error
	if h.space == nil {
		if err = next.fitBase(ctx, x, y, groups, totals); err != nil {
			return nil, err
		}
	}
	fitted, err := next.eachGroup(ctx, groups, func(i int, old class) (class, error) {
		return next.extend(old, totals[i], func(m *moments.Moments) error { return m.Add(place(x, groups[i].Rows)) })
	})
	if err != nil {
		return nil, err
	}
	if h.space == nil {
		if err := next.addLogits(ctx, x, y, fitted); err != nil {
			return nil, err
		}
	}
	return &next, next.replace(groups, fitted)
}

// extended returns the totals of the classes of a session with it.
func (h *Head) extended(x blas32.General, groups []classifier.Group) []moments.Total {
	totals := make([]moments.Total, len(groups))
	dense.Parallel(len(groups), func(i int) {
		old, _ := h.classes.Get(groups[i].Class)
		totals[i] = old.Plus(classifier.Placed(x, groups[i].Rows, true))
	})
	return totals
}

// fitBase computes the space and the setting.
func (h *Head) fitBase(ctx context.Context, x blas32.General, y []string, groups []classifier.Group, totals []moments.Total) error {
	if h.cfg.chooses() && h.choice == nil {
		choice, err := h.cfg.choose(ctx, h.mul, x, y)
		if err != nil {
			return fmt.Errorf("choose: %w", err)
		}
		h.choice = &choice
	}
	h.set()
	basis, err := gauss.Fit(ctx, h.mul, x, groups, totals)
	if err != nil {
		return err
	}
	h.space, err = h.cfg.spaceOf(basis)
	return err
}

// set puts in force what was given or chosen.
func (h *Head) set() {
	h.setting = plain(h.cfg.Nu)
	if h.choice != nil {
		h.setting = h.choice.Value
	}
}

func (c Config) spaceOf(basis *gauss.Basis) (*gauss.Space, error) {
	sp, err := basis.Space(c.Epsilon)
	if err == nil {
		sp.Certain = !c.Uncertain
	}
	return sp, err
}

// eachGroup makes the classes of a session in parallel from what they were; of
// several errors, the first in class order is returned.
func (h *Head) eachGroup(ctx context.Context, groups []classifier.Group, fit func(i int, old class) (class, error)) ([]class, error) {
	fitted, errs := make([]class, len(groups)), make([]error, len(groups))
	dense.Parallel(len(groups), func(i int) {
		old, _ := h.classes.Get(groups[i].Class)
		if errs[i] = ctx.Err(); errs[i] == nil {
			fitted[i], errs[i] = fit(i, old)
		}
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", groups[i].Class, err)
		}
	}
	return fitted, nil
}

// extend fits the class with what add adds to its statistics.
func (h *Head) extend(old class, total moments.Total, add func(*moments.Moments) error) (class, error) {
	stats := moments.New(h.space.Dim())
	next := class{Total: total, base: h.classes.Len() == 0, logit: old.logit}
	if old.N > 0 {
		if old.stats == nil {
			return class{}, ErrNoStatistics
		}
		stats, next.base = old.stats.Clone(), old.base
	}
	if err := add(stats); err != nil {
		return class{}, err
	}
	return h.fit(next, stats)
}

// fit computes what the class has of its own.
func (h *Head) fit(next class, stats *moments.Moments) (class, error) {
	var err error
	if h.setting.Nu < Pooled {
		next.own, err = fitSpread(h.space, stats, h.cfg.Q)
	}
	if h.cfg.Statistics {
		next.stats = stats
	}
	return next, err
}

// addLogits trains the regression that ranks the base classes anew, where the
// setting has one.
func (h *Head) addLogits(ctx context.Context, x blas32.General, y []string, classes []class) error {
	if h.setting.Rerank == 0 {
		return nil
	}
	w, err := regress(ctx, h.space, x, y)
	for i := range classes {
		if err == nil {
			classes[i].logit = w.Data[i*w.Stride : (i+1)*w.Stride]
		}
	}
	return err
}

// regress fits the regression of a base session, classes in order of name.
func regress(ctx context.Context, sp *gauss.Space, x blas32.General, y []string) (blas64.General, error) {
	groups := classifier.GroupByClass(y)
	column := make([]int, len(y))
	for c, g := range groups {
		for _, r := range g.Rows {
			column[r] = c
		}
	}
	white, err := sp.Whitened(classifier.Placed(x, classifier.Range(0, x.Rows), true))
	if err != nil {
		return white, err
	}
	return newLogistic(sp.Backend(), white, column, len(groups)).fit(ctx)
}

// Forget implements classifier.Forgetter.
func (h *Head) Forget(name string) error {
	if _, ok := h.classes.Get(name); !ok {
		return fmt.Errorf("%s: forget %q: %w", h.method, name, classifier.ErrUnknownClass)
	}
	return h.replace([]classifier.Group{{Class: name}}, []class{{}})
}

// ForgetSamples implements classifier.SampleForgetter, from the statistics.
func (h *Head) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.Dim()); err != nil {
		return fmt.Errorf("%s: forget samples: %w", h.method, err)
	}
	groups := classifier.GroupByClass(y)
	fitted, err := h.eachGroup(context.Background(), groups, func(i int, old class) (class, error) {
		return h.shrink(old, x, groups[i].Rows)
	})
	if err != nil {
		return fmt.Errorf("%s: forget samples: %w", h.method, err)
	}
	return h.replace(groups, fitted)
}

// shrink fits the class without some rows; n = 0 where none is left.
func (h *Head) shrink(old class, x blas32.General, rows []int) (class, error) {
	if old.N == 0 {
		return class{}, classifier.ErrUnknownClass
	}
	if old.stats == nil {
		return class{}, ErrNoStatistics
	}
	stats := old.stats.Clone()
	if err := stats.Remove(place(x, rows)); err != nil || stats.N() == 0 {
		return class{}, err
	}
	total, err := old.Minus(classifier.Placed(x, rows, true), 1)
	if err != nil {
		return class{}, err
	}
	return h.fit(class{Total: total, base: old.base, logit: old.logit}, stats)
}

// replace puts fitted classes in their columns, dropping those of n = 0, and
// makes the scorer anew. Nothing changes when that fails.
func (h *Head) replace(groups []classifier.Group, fitted []class) error {
	classes := h.classes.Clone()
	var names []string
	var changed []class
	for i, g := range groups {
		if fitted[i].N == 0 {
			classes.Drop(g.Class)
		} else {
			names, changed = append(names, g.Class), append(changed, fitted[i])
		}
	}
	made, units, err := densities(h.space, changed, h.setting.Nu, h.cfg.Student)
	if err != nil {
		return fmt.Errorf("%s: %w", h.method, err)
	}
	for i, c := range changed {
		c.density, c.unit = made[i], units[i]
		classes.Put(names[i], c)
	}
	if classes.Len() == 0 {
		*h = Head{method: h.method, cfg: h.cfg, mul: h.mul}
		return nil
	}
	h.classes, h.scorer = classes, newScorer(h.space, h.setting, classes.Values())
	return nil
}

// Score implements classifier.Head in O(d² + Cqd) per row. The novelty is −max
// log-density before any calibration, up to a constant that all classes share.
func (h *Head) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Score(dst, novelty, x)
}

func (h *Head) scoring() classifier.Scoring {
	s := classifier.Scoring{Method: h.method, Head: h, LogProb: logProb, Novelty: novelty}
	if h.scorer != nil {
		s.Scores, s.Batch = h.scorer.batch, h.scorer.stack.Batch()
	}
	return s
}
