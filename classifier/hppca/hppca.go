package hppca

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// HPPCA is a head with one low-rank Gaussian per class under a hierarchy of
// super-classes.
type HPPCA struct {
	classtable.Kept[shared, class]
	cfg Config
}

type model = classtable.Model[shared, class]

// shared holds the hierarchy above the classes.
type shared struct {
	// Levels is the number of nodes of each level, from the top.
	Levels []int `json:"levels"`
	tree   tree
	scorer *scorer
}

// class is one Gaussian and its place in the hierarchy.
type class struct {
	lowrank.Gaussian
	super int // its node in the lowest level of the tree
}

var (
	_ classifier.Refresher    = (*HPPCA)(nil)
	_ classifier.Hierarchical = (*HPPCA)(nil)
)

// New returns an unfitted head. The base session builds the super-classes.
// Later, new classes join the super-class with the smallest KL divergence,
// which stays the same, and old classes stay where they are; super-classes
// without classes vanish. With Config.Refresh every change rebuilds all
// super-classes.
func New(cfg Config) (*HPPCA, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.resolve()
	return &HPPCA{cfg: cfg, Kept: classtable.NewKept(classtable.Method[shared, class]{
		Name: "hppca", Config: cfg, Unit: *cfg.Normalize,
		Fit: func(_ *model, old class, change classtable.Change) (class, error) {
			g, err := lowrank.Fit(change.Stats, cfg.Q, cfg.Lambda)
			return class{g, old.super}, err
		},
		Pack:    pack,
		Settle:  cfg.settle,
		Rescore: cfg.rescore,
		Fields:  cfg.fields,
		Encode:  cfg.encode,
		Decode:  cfg.decode,
		Made:    func(c class, stats *moments.Moments) bool { return stats.Made(c.N, c.Mean, 0) },
		Keep:    cfg.Statistics,
	})}, nil
}

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *HPPCA) Clone() (classifier.Learner, error) {
	next := *h
	return &next, nil
}

// pack moves the components of classes into one piece of memory, as clustering
// needs them.
func pack(classes []class) {
	gs := gaussians(classes)
	lowrank.Pack(gs)
	for i := range gs {
		classes[i].Gaussian = gs[i]
	}
}

// settle assigns changed classes to super-classes.
func (c Config) settle(ctx context.Context, m *model, s *moments.Session, known int) error {
	switch {
	case s == nil && c.Refresh:
		return c.regroup(ctx, m, nil)
	case s == nil:
		m.Shared.tree = m.Shared.tree.pruned(m.Classes.Values())
		return nil
	case known == 0 || c.Refresh:
		return c.regroup(ctx, m, c.examplesOf(s))
	}
	return place(m, known)
}

// rescore stacks all Gaussians; the classes share the components of the stacks.
func (c Config) rescore(m *model, _ []int) error {
	classes := m.Classes.Values()
	gs, supers := gaussians(classes), supersOf(classes)
	if err := m.Shared.tree.check(supers); err != nil {
		return err
	}
	m.Shared.scorer = newScorer(m.Backend, c, m.Shared.tree, gs, supers)
	for i := range classes {
		classes[i].Gaussian = gs[i]
	}
	m.Shared.Levels = nil
	for _, l := range m.Shared.tree.levels {
		m.Shared.Levels = append(m.Shared.Levels, len(l.nodes))
	}
	return nil
}

// Refresh rebuilds the super-classes from all current classes, as if these had
// been learned in one session. With Config.Cluster "raw" that needs the
// examples: the error wraps ErrUnsupported. On error nothing changes.
func (h *HPPCA) Refresh(ctx context.Context) error {
	if !h.Model().Fitted() {
		return nil
	}
	err := h.Update(func(m *model) error { return h.cfg.regroup(ctx, m, nil) })
	if err != nil {
		return fmt.Errorf("hppca: refresh: %w", err)
	}
	return nil
}

// Regroup returns a head with the same class models (shared, not copied) under
// another configuration, which may differ in everything except q, λ and
// normalize. The super-classes are rebuilt unless only T, Gap, LogDet or Relative differ.
func (h *HPPCA) Regroup(ctx context.Context, cfg Config) (*HPPCA, error) {
	next, err := New(cfg)
	if err == nil {
		err = h.CheckFitted("regroup")
	}
	cfg = cfg.resolve()
	if err == nil && (cfg.Q != h.cfg.Q || cfg.Lambda != h.cfg.Lambda || *cfg.Normalize != *h.cfg.Normalize) {
		err = fmt.Errorf("q, lambda or normalize differ, which the class models depend on: %w",
			classifier.ErrUnsupported)
	}
	if err == nil {
		err = next.Update(func(m *model) error {
			*m = *h.Model().Clone()
			same := h.cfg
			same.T, same.Gap, same.Refresh, same.Statistics = cfg.T, cfg.Gap, cfg.Refresh, cfg.Statistics
			same.Preset, same.Normalize = cfg.Preset, cfg.Normalize
			same.LogDet = cfg.LogDet
			if same == cfg {
				return nil
			}
			return cfg.regroup(ctx, m, nil)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("hppca: regroup: %w", err)
	}
	return next, nil
}

// Supers returns the number of super-classes, those directly above the classes.
func (h *HPPCA) Supers() int {
	if !h.Model().Fitted() {
		return 0
	}
	return len(h.Model().Shared.tree.lowest().nodes)
}

// SuperClass returns the number (0 … Supers−1) of a class's super-class; the
// error wraps ErrUnknownClass.
func (h *HPPCA) SuperClass(name string) (int, error) {
	c, ok := h.Model().Classes.Get(name)
	if !ok {
		return 0, fmt.Errorf("hppca: super-class of %q: %w", name, classifier.ErrUnknownClass)
	}
	return c.super, nil
}

func gaussians(classes []class) []lowrank.Gaussian {
	gs := make([]lowrank.Gaussian, len(classes))
	for i := range classes {
		gs[i] = classes[i].Gaussian
	}
	return gs
}

func supersOf(classes []class) []int {
	supers := make([]int, len(classes))
	for i, c := range classes {
		supers[i] = c.super
	}
	return supers
}
