package pldaplus

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// meanTol bounds the difference between the mean of float32 rows of length 1
// and the same mean in float64.
const meanTol = 1e-6

// A Head is one head of the family: plda+ or ppca-eb. With a prior (UsePrior), a base
// session of at most 20 examples of each class chooses ε together with the weight of the
// prior, unless ε is set to another value than its default. Pseudo-sessions start from the
// prior too, with the weight and the ε that the base session chose.
type Head struct {
	classtable.Kept[shared, class]
	gauss.Base
	method string
	cfg    Config
	// given is the setting that was chosen before, nil if the base session chooses it.
	given *Choice
}

type model = classtable.Model[shared, class]

// shared holds what the base session sets, and the scorer of all classes.
type shared struct {
	// Setting is the one in use.
	Setting Setting `json:"setting"`
	// Choice records how it was chosen; nil if everything was given.
	Choice *Choice `json:"choice,omitempty"`
	gauss.Settled
	scorer *scorer
}

var (
	_ classifier.Exporter  = (*Head)(nil)
	_ classifier.Expecter  = (*Head)(nil)
	_ classifier.Describer = (*Head)(nil)
	_ moments.Learner      = (*Head)(nil)
	_ classifier.Unfitter  = (*Head)(nil)
	_ gauss.Spacer         = (*Head)(nil)
	_ gauss.PriorUser      = (*Head)(nil)
	_ classifier.Doubting  = (*Head)(nil)
)

// New returns an unfitted head of the method PLDAPlus or PPCAEB. The first
// session is the base session: its classes stay base classes, and it alone
// determines the setting.
func New(method string, cfg Config) (*Head, error) {
	if method == PPCAEB {
		cfg = setting.OrDefault(cfg, DefaultPPCAEB())
	}
	return chosen(method, setting.OrDefault(cfg, DefaultPLDAPlus()), nil)
}

// chosen is New for a head whose setting has already been chosen, unless choice
// is nil.
func chosen(method string, cfg Config, choice *Choice) (*Head, error) {
	if err := cmp.Or(setting.OneOf("method", method, PLDAPlus, PPCAEB), cfg.Validate()); err != nil {
		return nil, err
	}
	h := &Head{method: method, cfg: cfg, given: choice}
	h.Base = gauss.NewBase(func() gauss.Settled { return h.Model().Shared.Settled })
	h.Kept = classtable.NewKept(classtable.Method[shared, class]{
		Name: method, Config: cfg, Unit: true,
		Base: func(ctx context.Context, m *model, s *moments.Session) error {
			m.Shared.Choice = choice
			return h.base(ctx, m, s)
		},
		Fit:     cfg.fit,
		Settle:  settle,
		Rescore: cfg.rescore,
		Scoring: func(m *model) classifier.Scoring { return m.Shared.scorer.scoring() },
		Count:   func(c class) int { return c.N },
		Fields:  cfg.fields,
		Encode:  func(m *model) map[string]classifier.Tensor { return m.Shared.Space.Tensors() },
		Decode:  cfg.decode,
		Made:    func(c class, stats *moments.Moments) bool { return stats.Made(c.N, c.Mean(), meanTol) },
		Keep:    cfg.Statistics,
	})
	return h, nil
}

// base computes the space and the setting.
func (h *Head) base(ctx context.Context, m *model, s *moments.Session) error {
	c := h.cfg
	basis, settled, err := h.Start.Fit(ctx, m.Backend, s)
	if err != nil {
		return err
	}
	m.Shared.Settled = settled
	if h.Start.Weight == 0 && c.Epsilon == defaultEpsilon && basis.MostExamples() <= gauss.MostLeftOut {
		m.Shared.PriorEpsilon = basis.PriorEpsilon()
		c.Epsilon = cmp.Or(m.Shared.PriorEpsilon, c.Epsilon)
	}
	if c.chooses() && m.Shared.Choice == nil {
		choice, err := chooser{c, m.Backend, h.Start.Prior, basis.PriorWeight()}.choose(ctx, s)
		if err != nil {
			return fmt.Errorf("choose: %w", err)
		}
		m.Shared.Choice = &choice
	}
	m.Shared.Setting = plain(c.Nu)
	if m.Shared.Choice != nil {
		m.Shared.Setting = m.Shared.Choice.Value
	}
	return m.Shared.SetSpace(basis, c.Epsilon, !c.Uncertain, c.MeanLength)
}

// fit computes the parameters specific to a class.
func (c Config) fit(m *model, old class, change classtable.Change) (class, error) {
	next := class{base: old.base, logit: old.logit}
	if old.N == 0 {
		next.base = !m.Fitted()
	}
	var err error
	next.Total, err = change.Total(old.Total)
	if err == nil && m.Shared.Setting.Nu < Pooled {
		next.own, err = fitSpread(m.Shared.Space, change.Stats, c.Q)
	}
	return next, err
}

// settle trains the regression that reranks the base classes, if the setting
// has one.
func settle(ctx context.Context, m *model, s *moments.Session, known int) error {
	if known > 0 || m.Shared.Setting.Rerank == 0 {
		return nil
	}
	w, err := regress(ctx, m.Shared.Space, s)
	if err != nil {
		return err
	}
	for i := range m.Classes.Values() {
		m.Classes.Values()[i].logit = dense.Row(w, i)
	}
	return nil
}

// regress fits the regression of a base session, with the classes in order of
// name.
func regress(ctx context.Context, sp *gauss.Space, s *moments.Session) (blas64.General, error) {
	column := make([]int, len(s.Y))
	for c, e := range s.Classes {
		for _, r := range e.Rows {
			column[r] = c
		}
	}
	white, err := sp.WhitenedRows(s.X)
	if err != nil {
		return white, err
	}
	return newLogistic(sp.Backend(), white, column, len(s.Classes)).fit(ctx)
}

// rescore computes the densities of changed classes and stacks all classes.
func (c Config) rescore(m *model, changed []int) error {
	sh, classes := &m.Shared, m.Classes.Values()
	sh.Space = sh.Space.On(m.Backend)
	some := make([]class, len(changed))
	for i, column := range changed {
		some[i] = classes[column]
	}
	densities, units, err := densities(sh.Space, some, sh.Setting.Nu, c.Student)
	if err != nil {
		return err
	}
	for i, column := range changed {
		classes[column].density, classes[column].unit = densities[i], units[i]
	}
	sh.scorer = newScorer(sh.Space, sh.Setting, classes)
	return sh.compare(classes, some, changed)
}

// compare prepares the scorer for novelty.
func (sh *shared) compare(classes, some []class, changed []int) error {
	if sh.Setting.Nu >= Pooled {
		return nil
	}
	plain, err := sh.Space.Pooled(totals(some))
	if err != nil {
		return err
	}
	for i, column := range changed {
		classes[column].plain = plain[i]
	}
	sh.scorer.plain = gauss.StackOf(sh.Space, classes, func(c *class) **gauss.Density { return &c.plain })
	return nil
}

// Setting returns the setting in use, zero before the base session.
func (h *Head) Setting() Setting { return h.Model().Shared.Setting }

// Choice returns what pseudo-sessions chose, nil before the base session and if
// everything was given.
func (h *Head) Choice() *Choice { return h.Model().Shared.Choice }

// Describe implements classifier.Describer.
func (h *Head) Describe() []classifier.Remark { return h.Choice().Describe("shrinkage", "%s") }

// TakesUnit implements moments.Learner. Settings that pseudo-sessions would
// choose are, after LearnMoments, those of a base session that is too small for
// them: no calibration, and ν infinite if it was not given.
func (h *Head) TakesUnit() bool { return true }

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *Head) Clone() (classifier.Learner, error) {
	next, err := chosen(h.method, h.cfg, h.given)
	if err == nil {
		next.Start = h.Start
		next.Share(&h.Kept.Head)
	}
	return next, err
}

// Expect implements classifier.Expecter. The classes (n = 0) have the density of any
// new class, N(m₀, W+B), with b, as they are no base classes, and without cosine. It
// takes as long as preparing all classes for scoring.
func (h *Head) Expect(classes ...string) error {
	return h.AddEmpty("expect", func(m *model) class {
		return class{Total: moments.Total{Sum: make([]float64, m.Dim)}}
	}, classes...)
}

// Unfitted implements classifier.Unfitter: the setting, the weight of the prior, the ε
// that goes with it and the share that is guessed are fixed to those of this head.
func (h *Head) Unfitted() (classifier.Learner, error) {
	cfg := h.cfg
	cfg.Epsilon = cmp.Or(h.Model().Shared.PriorEpsilon, cfg.Epsilon)
	next, err := chosen(h.method, cfg, h.Choice())
	if err == nil {
		next.UseBackend(h.Model().Backend)
		next.Start = h.Again()
	}
	return next, err
}
