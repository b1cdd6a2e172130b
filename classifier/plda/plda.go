package plda

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// PLDA is a two-covariance head.
type PLDA struct {
	classtable.Exact[shared, class]
	cfg   Config
	prior *gauss.Prior
	// weight is that of the prior, 0 if the base session chooses it.
	weight float64
	// guessed is the share of the space that is guessed, nil if the base session tells.
	guessed *float64
}

type model = classtable.Model[shared, class]

// shared holds what the base session sets, and the scorer of all classes.
type shared struct {
	// Choice records the choice of ε; nil if ε was given.
	Choice *Choice `json:"epsilon_choice,omitempty"`
	// PriorWeight is the number of degrees of freedom that the prior counts as, 0
	// without one.
	PriorWeight float64 `json:"prior_weight,omitempty"`
	// Guessed is the share of the space that was guessed; nil in a model of 0.1.
	Guessed *float64 `json:"guessed,omitempty"`
	// Rank and Rest are those of the space.
	Rank  int     `json:"rank"`
	Rest  float64 `json:"beta_rest"`
	space *gauss.Space
	stack *gauss.Stack
}

// class is one class and its predictive density.
type class struct {
	moments.Total
	density *gauss.Density
}

var (
	_ classifier.Exporter = (*PLDA)(nil)
	_ classifier.Linear   = (*PLDA)(nil)
	_ moments.Learner     = (*PLDA)(nil)
	_ episodes.Unfitter   = (*PLDA)(nil)
	_ gauss.Spacer        = (*PLDA)(nil)
	_ gauss.PriorUser     = (*PLDA)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*PLDA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	h := &PLDA{cfg: cfg}
	h.Exact = classtable.NewExact(classtable.Method[shared, class]{
		Name: cfg.method(), Config: cfg, Unit: true,
		Fit: func(_ *model, old class, change classtable.Change) (class, error) {
			total, err := change.Total(old.Total)
			return class{Total: total}, err
		},
		Settle:  h.settle,
		Rescore: rescore,
		Scoring: func(m *model) classifier.Scoring { return classifier.Scoring{Scores: m.Shared.logDensities} },
		Count:   func(c class) int { return c.N },
		Join:    func(a, b class) class { return class{Total: a.And(b.Total)} },
		Fields:  func(c *classifier.Codec, m *model, class *class) { class.Fields(c, m.Dim) },
		Encode:  func(m *model) map[string]classifier.Tensor { return m.Shared.space.Tensors() },
		Decode:  cfg.decode,
	})
	return h, nil
}

// settle computes W, B and m₀ from the base session, and chooses ε if that is
// automatic, together with the weight of the prior if there is one.
func (h *PLDA) settle(ctx context.Context, m *model, s *moments.Session, known int) error {
	if known > 0 {
		return nil
	}
	basis, err := gauss.Fit(ctx, m.Backend, s, s.Totals())
	if err != nil {
		return err
	}
	basis.GuessAs(h.guessed)
	if basis, err = basis.Weighed(ctx, s, h.prior, h.weight); err != nil {
		return err
	}
	c := h.cfg
	guessed := basis.Guessed()
	m.Shared.PriorWeight, m.Shared.Guessed = basis.PriorWeight(), &guessed
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
	sp, err := b.Space(epsilon)
	if err != nil {
		return err
	}
	sp.Certain, sp.Length = c.Certain, c.MeanLength
	sh.space, sh.Rank, sh.Rest = sp, len(sp.Beta), sp.Rest
	return nil
}

// rescore computes the densities of changed classes and stacks all classes.
func rescore(m *model, changed []int) error {
	sp, classes := m.Shared.space.On(m.Backend), m.Classes.Values()
	totals := make([]moments.Total, len(changed))
	for i, column := range changed {
		totals[i] = classes[column].Total
	}
	densities, err := sp.Pooled(totals)
	if err != nil {
		return err
	}
	for i, column := range changed {
		classes[column].density = densities[i]
	}
	m.Shared.space = sp
	m.Shared.stack = gauss.StackOf(sp, classes, func(c *class) **gauss.Density { return &c.density })
	return nil
}

// logDensities returns the log-densities of a few rows (n×C), up to a constant
// that all classes share, in O(d² + Cd) per row.
func (sh *shared) logDensities(x blas32.General) (blas64.General, error) {
	white, err := sh.whitened(x)
	if err != nil {
		return white, err
	}
	return sh.stack.LogDensities(white)
}

func (sh *shared) whitened(x blas32.General) (blas64.General, error) {
	return sh.space.Whitened(classifier.Placed(x, dense.Range(0, x.Rows), true))
}

// Features implements classifier.Linear in O(d² + dr) per row.
func (h *PLDA) Features(x blas32.General) (blas64.General, error) {
	if err := h.CheckFitted("features"); err != nil {
		return blas64.General{}, err
	}
	sh := h.Model().Shared
	white, err := sh.whitened(x)
	if err != nil {
		return white, err
	}
	return sh.space.Features(white)
}

// Weights implements classifier.Linear.
func (h *PLDA) Weights(columns []int) (blas64.General, []float64, error) {
	if err := h.CheckFitted("weights"); err != nil {
		return blas64.General{}, nil, err
	}
	return h.Model().Shared.stack.Weights(columns)
}

// TakesUnit implements moments.Learner; LearnMoments takes O(Cd² + d³) for the
// base session, O(d²) per class afterwards. Where pseudo-sessions would choose ε
// it is 0.3. The only other difference from learning the examples
// is that those were rounded to float32 after scaling to length 1.
func (h *PLDA) TakesUnit() bool { return true }

// Unfitted implements episodes.Unfitter: ε, the weight of the prior and the share that
// is guessed are fixed to the values of this head.
func (h *PLDA) Unfitted() (classifier.Learner, error) {
	cfg := h.cfg
	if c := h.Choice(); c != nil {
		cfg.Epsilon, cfg.LeaveOut = c.Value, false
	}
	next, err := New(cfg)
	if err == nil {
		next.UseBackend(h.Model().Backend)
		next.guessed = h.Model().Shared.Guessed
		if w := h.PriorWeight(); w > 0 {
			next.prior, next.weight = h.prior, w
		}
	}
	return next, err
}

// Expect adds classes that have no examples yet (n = 0): their density is that of
// any new class, N(m₀, W+B). Known classes do not change. It takes as long as
// preparing all classes for scoring.
func (h *PLDA) Expect(classes ...string) error {
	if err := h.CheckFitted("expect"); err != nil {
		return err
	}
	return h.Update(func(m *model) error {
		for _, name := range classes {
			if _, ok := m.Classes.Get(name); !ok {
				m.Classes.Put(name, class{Total: moments.Total{Sum: make([]float64, m.Dim)}})
			}
		}
		return nil
	})
}

// UsePrior implements gauss.PriorUser.
func (h *PLDA) UsePrior(p *gauss.Prior) error {
	if p != nil && h.cfg.Certain {
		return fmt.Errorf("%w: lda has a shrinkage of its own; plda takes one", gauss.ErrPrior)
	}
	h.prior = p
	return nil
}

// PriorWeight implements gauss.PriorUser.
func (h *PLDA) PriorWeight() float64 { return h.Model().Shared.PriorWeight }

// Spread implements calibration.Doubting.
func (h *PLDA) Spread(n int) float64 { return h.Space().Spread(n) }

// Space implements gauss.Spacer.
func (h *PLDA) Space() *gauss.Space { return h.Model().Shared.space }

// Export implements classifier.Exporter.
func (h *PLDA) Export(g *onnx.Graph, x string) (string, error) {
	if err := h.CheckFitted("export"); err != nil {
		return "", err
	}
	s := h.Model().Shared
	scores, err := s.stack.Graph(g, s.space.WhitenedGraph(g, classifier.PlacedGraph(g, x, true)))
	if err != nil {
		return "", fmt.Errorf("%s: export: %w", h.cfg.method(), err)
	}
	return classifier.LogSoftmaxGraph(g, scores), nil
}

func (c Config) decode(m *model, s classifier.State, _ int) error {
	sh := &m.Shared
	if !(sh.PriorWeight >= 0 && sh.PriorWeight < math.MaxInt32) {
		return fmt.Errorf("the prior counts as %g images", sh.PriorWeight)
	}
	if err := cmp.Or(gauss.CheckGuessed(sh.Guessed), episodes.CheckSaved("epsilon", c.auto(), sh.Choice, checkEpsilon)); err != nil {
		return err
	}
	var err error
	if sh.space, err = gauss.LoadSpace(s, m.Dim, sh.Rank, sh.Rest); err == nil {
		sh.space.Certain, sh.space.Length = c.Certain, c.MeanLength
	}
	return err
}

// Load returns the head that Save described.
func Load(s classifier.State) (*PLDA, error) { return classtable.Load(Config{}.method(), s, New) }

// LoadLDA is Load for linear discriminant analysis.
func LoadLDA(s classifier.State) (*PLDA, error) { return classtable.Load(LDA().method(), s, New) }
