package ppca

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// PPCA is a head with one low-rank Gaussian per class.
type PPCA struct {
	classtable.Kept[shared, lowrank.Gaussian]
	cfg Config // resolved
}

type model = classtable.Model[shared, lowrank.Gaussian]

// shared holds what the classes share.
type shared struct {
	// Choice records the choice of λ; nil if λ was given.
	Choice     *Choice   `json:"lambda_choice,omitempty"`
	centre     []float64 // c, the mean of the class means
	stack      *lowrank.Stack
	background lowrank.Background
}

var (
	_ classifier.Exporter  = (*PPCA)(nil)
	_ classifier.Describer = (*PPCA)(nil)
	_ moments.Learner      = (*PPCA)(nil)
	_ classifier.Unfitter  = (*PPCA)(nil)
)

// New returns an unfitted head. If λ is Auto, the base session costs about ten
// times as much; later sessions do not change the choice.
func New(cfg Config) (*PPCA, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.Resolve()
	return &PPCA{cfg: cfg, Kept: classtable.NewKept(classtable.Method[shared, lowrank.Gaussian]{
		Name: "ppca", Config: cfg, Unit: *cfg.Normalize,
		Base: cfg.base,
		Fit: func(m *model, _ lowrank.Gaussian, change classtable.Change) (lowrank.Gaussian, error) {
			return lowrank.Fit(change.Stats, cfg.Q, cfg.chosen(m.Shared.Choice).Lambda)
		},
		Rescore: cfg.rescore,
		Scoring: cfg.scoring,
		Fields:  func(c *classifier.Codec, m *model, g *lowrank.Gaussian) { g.Fields(c, m.Dim, cfg.Q) },
		Decode: func(m *model, _ classifier.State, _ int) error {
			return episodes.CheckSaved("lambda", cfg.Lambda == Auto, m.Shared.Choice, checkLambda)
		},
		Made: func(g lowrank.Gaussian, stats *moments.Moments) bool { return stats.Made(g.N, g.Mean, 0) },
		Keep: cfg.Statistics,
	})}, nil
}

// Load returns the head that Save described, without statistics.
func Load(s classifier.State) (*PPCA, error) { return classtable.Load("ppca", s, New) }

// rescore stacks the Gaussians, which all have the same λ.
func (c Config) rescore(m *model, _ []int) error {
	gs := m.Classes.Values()
	for i := range gs {
		gs[i].Lambda = c.chosen(m.Shared.Choice).Lambda
	}
	m.Shared.centre = lowrank.MeanOfMeans(gs)
	m.Shared.background = lowrank.BackgroundOf(gs, m.Shared.centre, *c.LogDet)
	m.Shared.stack = lowrank.NewStack(gs, m.Shared.centre, *c.LogDet, lowrank.Fast, m.Backend)
	return nil
}

// scoring takes O(Cqd) per row. The novelty is log N(x; background) − max log-density, or
// half the difference of squared Mahalanobis distances without log-determinant.
func (c Config) scoring(m *model) classifier.Scoring {
	return classifier.Scoring{
		Scores: func(x blas32.General) (blas64.General, error) {
			q := lowrank.NewQueries(lowrank.Placed(x, *c.Normalize), m.Shared.centre)
			scores, err := m.Shared.stack.Scores(q, dense.Range(0, x.Rows)) // −½(r + log|Σ|) of all classes
			if err != nil {
				return scores, err
			}
			return classifier.WithUnseen(scores, q.Background(m.Shared.background)), nil
		},
		Novelty: classifier.Unseen,
	}
}

// TakesUnit implements moments.Learner. If λ was to be chosen by
// pseudo-sessions, LearnMoments takes 0.01.
func (h *PPCA) TakesUnit() bool { return *h.cfg.Normalize }

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *PPCA) Clone() (classifier.Learner, error) {
	next := *h
	return &next, nil
}

// Unfitted implements classifier.Unfitter: λ is fixed to the value that this head
// chose, and no statistics are stored.
func (h *PPCA) Unfitted() (classifier.Learner, error) {
	cfg := h.cfg.chosen(h.Choice())
	cfg.Statistics = false
	head, err := New(cfg)
	if err == nil {
		head.UseBackend(h.Model().Backend)
	}
	return head, err
}

// Export implements classifier.Exporter.
func (h *PPCA) Export(g *onnx.Graph, x string) (logProb, novelty string, err error) {
	if err := h.CheckFitted("export"); err != nil {
		return "", "", err
	}
	s, z := h.Model().Shared, classifier.PlacedGraph(g, x, *h.cfg.Normalize)
	if *h.cfg.Normalize {
		z = g.Cast(g.Cast(z, onnx.Float32), onnx.Float64) // as lowrank.Placed does
	}
	scores := s.stack.Graph(g, z, s.centre)
	novelty = classifier.UnseenGraph(g, scores, len(h.Classes()), s.background.Graph(g, z, s.centre))
	return classifier.LogSoftmaxGraph(g, scores), novelty, nil
}

// base chooses λ if that is automatic.
func (c Config) base(ctx context.Context, m *model, s *moments.Session) error {
	if c.Lambda != Auto {
		return nil
	}
	var err error
	if m.Shared.Choice, err = c.choose(ctx, m.Backend, s); err != nil {
		return fmt.Errorf("choose lambda: %w", err)
	}
	return nil
}
