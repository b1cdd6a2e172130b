package plda

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// PLDA is a two-covariance head.
type PLDA struct {
	classtable.Exact[shared, class]
	gauss.Base
	cfg Config
}

type model = classtable.Model[shared, class]

// shared holds what the base session sets, and the scorer of all classes.
type shared struct {
	// Choice records the choice of ε; nil if ε was given.
	Choice *Choice `json:"epsilon_choice,omitempty"`
	// Words are those of the classes, nil for none.
	Words *gauss.Words `json:"words,omitempty"`
	// Unstarted reports that there are only words, no examples yet.
	Unstarted bool `json:"unstarted,omitempty"`
	gauss.Settled
	stack *gauss.Stack
	named *gauss.Named
}

// class is one class and its predictive density.
type class struct {
	moments.Total
	density *gauss.Density
}

var (
	_ classifier.Exporter  = (*PLDA)(nil)
	_ classifier.Linear    = (*PLDA)(nil)
	_ classifier.Expecter  = (*PLDA)(nil)
	_ classifier.Describer = (*PLDA)(nil)
	_ moments.Learner      = (*PLDA)(nil)
	_ classifier.Unfitter  = (*PLDA)(nil)
	_ gauss.Adaptable      = (*PLDA)(nil)
	_ gauss.PriorUser      = (*PLDA)(nil)
	_ classifier.Doubting  = (*PLDA)(nil)
)

// New returns an unfitted head. The zero Config stands for DefaultConfig.
func New(cfg Config) (*PLDA, error) { return made(setting.OrDefault(cfg, DefaultConfig())) }

// made is New for the settings of a file, in which those that are all zero are meant so.
func made(cfg Config) (*PLDA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	h := &PLDA{cfg: cfg}
	h.Base = gauss.NewBase(func() gauss.Settled { return h.Model().Shared.Settled })
	h.Exact = classtable.NewExact(classtable.Method[shared, class]{
		Name: cfg.method(), Config: cfg, Unit: true,
		Fit: func(_ *model, old class, change classtable.Change) (class, error) {
			total, err := change.Total(old.Total)
			return class{Total: total}, err
		},
		Settle:  h.settle,
		Rescore: rescore,
		Scoring: func(m *model) classifier.Scoring { return m.Shared.scoring() },
		Count:   func(c class) int { return c.N },
		Join:    func(a, b class) class { return class{Total: a.And(b.Total)} },
		Fields:  func(c *classifier.Codec, m *model, class *class) { class.fields(c, m) },
		Encode:  func(m *model) map[string]classifier.Tensor { return m.Shared.tensors() },
		Decode:  cfg.decode,
	})
	return h, nil
}

// settle computes W, B and m₀ from the base session, and chooses ε if that is
// automatic, together with the weight of the prior if there is one.
func (h *PLDA) settle(ctx context.Context, m *model, s *moments.Session, known int) error {
	if known > 0 && !m.Shared.Unstarted || s == nil {
		return nil
	}
	m.Shared.Unstarted = false
	basis, settled, err := h.Start.Fit(ctx, m.Backend, s)
	if err != nil {
		return err
	}
	m.Shared.Settled = settled
	c := h.cfg
	epsilon := c.Epsilon
	if c.auto() {
		choice, err := c.choose(ctx, s, basis, h.fitShared(m))
		if err != nil {
			return fmt.Errorf("choose epsilon: %w", err)
		}
		m.Shared.Choice, epsilon = &choice, choice.Value
	}
	return m.Shared.set(c, basis, epsilon)
}

// set computes the space for a given ε. LDA's Σ' is W with ε = d/(N−1+d).
func (sh *shared) set(c Config, b *gauss.Basis, epsilon float64) error {
	if c.Certain {
		epsilon = float64(b.Dim()) / float64(b.Examples()-1+b.Dim())
	}
	return sh.SetSpace(b, epsilon, c.Certain, c.MeanLength)
}

// rescore computes the densities of changed classes and stacks all classes. With words,
// every class depends on all of them.
func rescore(m *model, changed []int) error {
	sp, classes := m.Shared.Space.On(m.Backend), m.Classes.Values()
	if m.Shared.named = nil; m.Shared.Words != nil {
		if err := name(m, sp); err != nil {
			return err
		}
		changed = dense.Range(0, len(classes))
	}
	totals := make([]moments.Total, len(changed))
	for i, column := range changed {
		if totals[i] = classes[column].Total; m.Shared.named != nil {
			totals[i] = m.Shared.named.Totals[column]
		}
	}
	densities, err := sp.Pooled(totals)
	if err != nil {
		return err
	}
	for i, column := range changed {
		classes[column].density = densities[i]
	}
	m.Shared.Space = sp
	m.Shared.stack = gauss.StackOf(sp, classes, func(c *class) **gauss.Density { return &c.density })
	return nil
}

// scoring takes O(d² + Cd) per row.
func (sh *shared) scoring() classifier.Scoring {
	return classifier.Scoring{Scores: sh.scores, Novelty: classifier.Unseen}
}

// scores returns the log-densities of rows under the classes, followed by that of a class
// that has not been seen.
func (sh *shared) scores(x blas32.General) (blas64.General, error) {
	unit := classifier.Placed(x, dense.Range(0, x.Rows), true)
	var names blas64.General
	if sh.named != nil {
		names = dense.Clone(unit)
	}
	white, err := sh.Space.Whitened(unit)
	if err != nil {
		return white, err
	}
	scores, err := sh.stack.OpenLogDensities(white)
	if err == nil && sh.named != nil {
		sh.named.Scores(scores, names)
	}
	return scores, err
}

// Features implements classifier.Linear in O(d² + dr) per row.
func (h *PLDA) Features(x blas32.General) (blas64.General, error) {
	if err := h.CheckFitted("features"); err != nil {
		return blas64.General{}, err
	}
	sh := h.Model().Shared
	white, err := sh.Space.WhitenedRows(x)
	if err != nil {
		return white, err
	}
	features, err := sh.Space.Features(white)
	if err != nil || sh.named == nil {
		return features, err
	}
	return beside(features, classifier.Placed(x, dense.Range(0, x.Rows), true)), nil
}

// Weights implements classifier.Linear.
func (h *PLDA) Weights(columns []int) (blas64.General, []float64, error) {
	if err := h.CheckFitted("weights"); err != nil {
		return blas64.General{}, nil, err
	}
	sh := h.Model().Shared
	w, b, err := sh.stack.Weights(columns)
	if err != nil || sh.named == nil {
		return w, b, err
	}
	directions := dense.New(len(columns), h.Dim())
	for i, c := range columns {
		copy(dense.Row(directions, i), dense.Row(sh.named.Directions, c))
		b[i] += sh.named.Offsets[c]
	}
	return beside(w, directions), b, nil
}

// Unseen implements classifier.Linear.
func (h *PLDA) Unseen() (w []float64, b float64, err error) {
	if err := h.CheckFitted("weights"); err != nil {
		return nil, 0, err
	}
	sh := h.Model().Shared
	w, b = sh.stack.Unseen()
	if sh.named != nil {
		w = append(w, make([]float64, h.Dim())...)
	}
	return w, b, nil
}

// TakesUnit implements moments.Learner; LearnMoments takes O(Cd² + d³) for the
// base session, O(d²) per class afterwards. Where pseudo-sessions would choose ε
// it is 0.3. The only other difference from learning the examples
// is that those were rounded to float32 after scaling to length 1.
func (h *PLDA) TakesUnit() bool { return true }

// Unfitted implements classifier.Unfitter: ε, the weight of the prior and the share that
// is guessed are fixed to the values of this head.
func (h *PLDA) Unfitted() (classifier.Learner, error) {
	cfg := h.cfg
	c := h.Choice()
	if c != nil && h.Started() {
		cfg.Epsilon, cfg.LeaveOut = c.Value, false
	}
	next, err := made(cfg)
	if err == nil {
		next.UseBackend(h.Model().Backend)
		next.Start = h.Again()
		if w := h.Words(); w != nil {
			err = next.UseWords(w)
		}
	}
	return next, err
}

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *PLDA) Clone() (classifier.Learner, error) {
	next, err := made(h.cfg)
	if err == nil {
		next.Start = h.Start
		next.Share(&h.Head)
	}
	return next, err
}

// Expect implements classifier.Expecter. The classes (n = 0) have the density of any
// new class, N(m₀, W+B). It takes as long as preparing all classes for scoring.
func (h *PLDA) Expect(classes ...string) error {
	return h.AddEmpty("expect", func(m *model) class {
		return class{Total: moments.Total{Sum: make([]float64, m.Dim)}}
	}, classes...)
}

// UsePrior implements gauss.PriorUser: LDA takes none.
func (h *PLDA) UsePrior(p *gauss.Prior) error {
	if p != nil && h.cfg.Certain {
		return fmt.Errorf("%w: lda has a shrinkage of its own; plda takes one", gauss.ErrPrior)
	}
	return h.Base.UsePrior(p)
}

// Adaptable implements gauss.Adaptable: LDA takes means as certain.
func (h *PLDA) Adaptable() bool { return !h.cfg.Certain }

// Export implements classifier.Exporter.
func (h *PLDA) Export(g *onnx.Graph, x string) (logProb, novelty string, err error) {
	if err := h.CheckFitted("export"); err != nil {
		return "", "", err
	}
	s := h.Model().Shared
	placed := classifier.PlacedGraph(g, x, true)
	scores, unseen, err := s.stack.Graph(g, s.Space.WhitenedGraph(g, placed))
	if err != nil {
		return "", "", fmt.Errorf("%s: export: %w", h.cfg.method(), err)
	}
	if n := s.named; n != nil {
		named := classifier.MulTransGraph(g, placed, n.Directions.Data, n.Directions.Rows, n.Directions.Cols)
		scores = g.Op("Add", scores, g.Op("Add", named, g.Float64s(n.Offsets, len(n.Offsets))))
	}
	novelty = classifier.UnseenGraph(g, scores, len(h.Classes()), unseen)
	return classifier.LogSoftmaxGraph(g, scores), novelty, nil
}

func (c Config) decode(m *model, s classifier.State, _ int) error {
	sh := &m.Shared
	if err := cmp.Or(sh.Check(), episodes.CheckSaved("epsilon", c.auto(), sh.Choice, checkEpsilon)); err != nil {
		return err
	}
	if err := sh.Load(s, m.Dim, c.Certain, c.MeanLength); err != nil || sh.Words == nil {
		return err
	}
	return sh.Words.Restore(s.Tensors[textsTensor], m.Dim)
}

// Load returns the head that Save described.
func Load(s classifier.State) (*PLDA, error) { return classtable.Load(Config{}.method(), s, New) }

// LoadLDA is Load for linear discriminant analysis.
func LoadLDA(s classifier.State) (*PLDA, error) { return classtable.Load(LDA().method(), s, New) }
