package hppca

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// ErrNoStatistics says that a class cannot take or lose examples.
var ErrNoStatistics = errors.New("the statistics side file is missing (or statistics were switched off), without which a learned class cannot take or lose examples: put it back beside the model, or forget the class and learn all of its examples again")

// fitChunk is how many classes are fitted before their components move into
// one piece of memory.
const fitChunk = 64

// HPPCA is a head with one low-rank Gaussian per class under a hierarchy of
// super-classes.
type HPPCA struct {
	cfg     Config
	dim     int
	classes classifier.Table[class]
	tree    tree
	scorer  *scorer // nil before the base session
	mul     linalg.Backend
}

// class is one Gaussian and its place. It is never changed, only replaced.
type class struct {
	lowrank.Gaussian
	n     int
	super int // its node in the lowest level of the tree
	stats *moments.Moments
}

var (
	_ classifier.Learner          = (*HPPCA)(nil)
	_ classifier.Forgetter        = (*HPPCA)(nil)
	_ classifier.SampleForgetter  = (*HPPCA)(nil)
	_ classifier.Saver            = (*HPPCA)(nil)
	_ classifier.StatisticsKeeper = (*HPPCA)(nil)
	_ classifier.Refresher        = (*HPPCA)(nil)
	_ classifier.BackendUser      = (*HPPCA)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*HPPCA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &HPPCA{cfg: cfg, mul: linalg.Default()}, nil
}

// UseBackend implements classifier.BackendUser, for fits, clustering and
// scores.
func (h *HPPCA) UseBackend(m linalg.Backend) {
	h.mul = m
	if h.scorer != nil {
		h.rescore()
	}
}

// Classes implements classifier.Head.
func (h *HPPCA) Classes() []string { return h.classes.Names() }

// Dim implements classifier.Head.
func (h *HPPCA) Dim() int { return h.dim }

// Supers returns the number of super-classes, those right above the classes.
func (h *HPPCA) Supers() int {
	if h.scorer == nil {
		return 0
	}
	return len(h.tree.lowest().nodes)
}

// SuperClass returns the number (0 … Supers−1) of a class's super-class; the
// error wraps ErrUnknownClass.
func (h *HPPCA) SuperClass(name string) (int, error) {
	c, ok := h.classes.Get(name)
	if !ok {
		return 0, fmt.Errorf("hppca: super-class of %q: %w", name, classifier.ErrUnknownClass)
	}
	return c.super, nil
}

// Learn implements classifier.Learner. The base session makes the
// super-classes; later, new classes join the super-class of smallest KL
// divergence, which stays as it is, unless Config.Refresh makes all of them
// anew. More examples of an old class need the statistics (ErrNoStatistics);
// it stays where it is.
func (h *HPPCA) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := h.learn(ctx, x, y); err != nil {
		return fmt.Errorf("hppca: learn: %w", err)
	}
	return nil
}

func (h *HPPCA) learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return err
	}
	groups := classifier.GroupByClass(y)
	fitted, err := fitGroups(ctx, groups, func(g classifier.Group) (class, error) { return h.extend(x, g) })
	if err != nil {
		return err
	}
	next := h.with(groups, fitted)
	next.dim = x.Cols
	if h.scorer == nil || h.cfg.Refresh {
		err = next.regroup(ctx, h.examplesOf(x, groups))
	} else {
		err = next.place(h.classes.Len())
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	next.rescore()
	*h = *next
	return nil
}

// Refresh makes the super-classes anew from all classes there are, as if they
// had been learned in one session. With Config.Cluster "raw" that needs the
// examples: the error wraps ErrUnsupported. On error nothing changes.
func (h *HPPCA) Refresh(ctx context.Context) error {
	if h.scorer == nil {
		return nil
	}
	next := h.with(nil, nil)
	if err := next.regroup(ctx, nil); err != nil {
		return fmt.Errorf("hppca: refresh: %w", err)
	}
	next.rescore()
	*h = *next
	return nil
}

// Regroup returns a head with the same class models (shared, not copied) under
// another configuration, which may differ in everything but q, λ and
// normalize. The super-classes are made anew unless only T, Gap or LogDet
// differ.
func (h *HPPCA) Regroup(ctx context.Context, cfg Config) (*HPPCA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("hppca: regroup: %w", err)
	}
	if h.scorer == nil {
		return nil, fmt.Errorf("hppca: regroup: %w", classifier.ErrNotFitted)
	}
	if cfg.Q != h.cfg.Q || cfg.Lambda != h.cfg.Lambda || cfg.Normalize != h.cfg.Normalize {
		return nil, fmt.Errorf("hppca: regroup: q, lambda or normalize differ, which the class models depend on: %w", classifier.ErrUnsupported)
	}
	next := h.with(nil, nil)
	next.cfg = cfg
	same := h.cfg
	same.T, same.Gap, same.LogDet, same.Refresh, same.Statistics = cfg.T, cfg.Gap, cfg.LogDet, cfg.Refresh, cfg.Statistics
	if same != cfg {
		if err := next.regroup(ctx, nil); err != nil {
			return nil, fmt.Errorf("hppca: regroup: %w", err)
		}
	}
	next.rescore()
	return next, nil
}

// Forget implements classifier.Forgetter. The super-classes stay, less those
// that have no class left, or are made anew with Config.Refresh.
func (h *HPPCA) Forget(name string) error {
	if _, ok := h.classes.Get(name); !ok {
		return fmt.Errorf("hppca: forget %q: %w", name, classifier.ErrUnknownClass)
	}
	return h.become(h.with([]classifier.Group{{Class: name}}, []class{{}}))
}

// ForgetSamples implements classifier.SampleForgetter, from the statistics.
func (h *HPPCA) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("hppca: forget samples: %w", err)
	}
	groups := classifier.GroupByClass(y)
	fitted, err := fitGroups(context.Background(), groups, func(g classifier.Group) (class, error) { return h.shrink(x, g) })
	if err != nil {
		return fmt.Errorf("hppca: forget samples: %w", err)
	}
	return h.become(h.with(groups, fitted))
}

// with returns a head whose classes are replaced by the fitted ones, less
// those of n = 0. It has no scorer yet.
func (h *HPPCA) with(groups []classifier.Group, fitted []class) *HPPCA {
	next := &HPPCA{cfg: h.cfg, mul: h.mul, dim: h.dim, classes: h.classes.Clone(), tree: h.tree}
	for i, g := range groups {
		if fitted[i].n == 0 {
			next.classes.Drop(g.Class)
		} else {
			next.classes.Put(g.Class, fitted[i])
		}
	}
	return next
}

// become takes over a head that has lost examples.
func (h *HPPCA) become(next *HPPCA) error {
	if next.classes.Len() == 0 {
		*h = HPPCA{cfg: h.cfg, mul: h.mul}
		return nil
	}
	if h.cfg.Refresh {
		if err := next.regroup(context.Background(), nil); err != nil {
			return fmt.Errorf("hppca: forget: %w", err)
		}
	} else {
		next.tree = next.tree.pruned(next.classes.Values())
	}
	next.rescore()
	*h = *next
	return nil
}

// gaussians returns the class models in column order.
func (h *HPPCA) gaussians() []lowrank.Gaussian {
	classes := h.classes.Values()
	gs := make([]lowrank.Gaussian, len(classes))
	for i := range classes {
		gs[i] = classes[i].Gaussian
	}
	return gs
}

// rescore makes the scorer, and the classes share its components.
func (h *HPPCA) rescore() {
	classes := h.classes.Values()
	gs := h.gaussians()
	h.scorer = newScorer(h.mul, h.cfg, h.tree, gs, supersOf(classes))
	for i := range classes {
		classes[i].Basis = gs[i].Basis
	}
}

func supersOf(classes []class) []int {
	supers := make([]int, len(classes))
	for i, c := range classes {
		supers[i] = c.super
	}
	return supers
}

// fitGroups fits the classes of a session in parallel; of several errors, the
// first in class order is returned.
func fitGroups(ctx context.Context, groups []classifier.Group, fit func(classifier.Group) (class, error)) ([]class, error) {
	fitted, errs := make([]class, len(groups)), make([]error, len(groups))
	for first := 0; first < len(groups); first += fitChunk {
		last := min(first+fitChunk, len(groups))
		dense.Parallel(last-first, func(i int) {
			if errs[first+i] = ctx.Err(); errs[first+i] == nil {
				fitted[first+i], errs[first+i] = fit(groups[first+i])
			}
		})
		for i := first; i < last; i++ {
			if errs[i] != nil {
				return nil, fmt.Errorf("class %q: %w", groups[i].Class, errs[i])
			}
		}
		pack(fitted[first:last])
	}
	return fitted, nil
}

func pack(classes []class) {
	gs := make([]lowrank.Gaussian, 0, len(classes))
	for _, c := range classes {
		gs = append(gs, c.Gaussian)
	}
	lowrank.Pack(gs)
	for i := range classes {
		classes[i].Basis = gs[i].Basis
	}
}

// extend fits the class with the examples of g added.
func (h *HPPCA) extend(x blas32.General, g classifier.Group) (class, error) {
	old, known := h.classes.Get(g.Class)
	stats := moments.New(x.Cols)
	if known {
		if old.stats == nil {
			return class{}, ErrNoStatistics
		}
		stats = old.stats.Clone()
	}
	stats.Use(h.mul)
	if err := stats.Give(h.scaled(x, g.Rows)); err != nil {
		return class{}, err
	}
	return h.fit(stats, old.super)
}

// shrink fits the class with the examples of g removed; n = 0 where none is
// left.
func (h *HPPCA) shrink(x blas32.General, g classifier.Group) (class, error) {
	old, ok := h.classes.Get(g.Class)
	if !ok {
		return class{}, classifier.ErrUnknownClass
	}
	if old.stats == nil {
		return class{}, ErrNoStatistics
	}
	stats := old.stats.Clone()
	stats.Use(h.mul)
	if err := stats.Remove(h.scaled(x, g.Rows)); err != nil || stats.N() == 0 {
		return class{}, err
	}
	return h.fit(stats, old.super)
}

func (h *HPPCA) fit(stats *moments.Moments, super int) (class, error) {
	g, err := lowrank.Fit(stats, h.cfg.Q, h.cfg.Lambda)
	c := class{Gaussian: g, n: stats.N(), super: super}
	if h.cfg.Statistics {
		c.stats = stats
	}
	return c, err
}

// scaled copies rows of x, scaled to length 1 if so configured.
func (h *HPPCA) scaled(x blas32.General, rows []int) blas32.General {
	if h.cfg.Normalize {
		return classifier.UnitRows(x, rows)
	}
	return dense.Gather32(x, rows)
}
