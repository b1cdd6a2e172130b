package ncm

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// NCM is a nearest class mean head.
type NCM struct {
	classtable.Exact[shared, moments.Total]
	cfg Config
}

type model = classtable.Model[shared, moments.Total]

// shared holds what the classes share.
type shared struct {
	Tau float64 `json:"tau"`
	// Between is b, for comparing with a class that has not been seen.
	Between float64 `json:"between"`
	means   *means
}

var (
	_ classifier.Exporter = (*NCM)(nil)
	_ moments.Learner     = (*NCM)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*NCM, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return made(cfg), nil
}

// made is New for a τ of any size, such as one that was fitted.
func made(cfg Config) *NCM {
	h := &NCM{cfg: cfg}
	h.Exact = classtable.NewExact(classtable.Method[shared, moments.Total]{
		Name: "ncm", Config: cfg, Unit: cfg.Metric == Cosine,
		Fit: func(_ *model, old moments.Total, change classtable.Change) (moments.Total, error) {
			return change.Total(old)
		},
		Settle: func(ctx context.Context, m *model, s *moments.Session, known int) error {
			if known == 0 {
				m.Shared.Between = betweenOf(m.Classes.Values(), s)
			}
			return cfg.settle(ctx, m, s, known)
		},
		Rescore: func(m *model, _ []int) error {
			m.Shared.means = cfg.meansOf(m)
			m.Shared.means.compare(m.Classes.Values(), m.Shared.Between)
			return nil
		},
		Scoring: cfg.scoring,
		Count:   func(t moments.Total) int { return t.N },
		Join:    moments.Total.And,
		Fields:  func(c *classifier.Codec, m *model, t *moments.Total) { t.Fields(c, m.Dim) },
		Decode: func(m *model, _ classifier.State, _ int) error {
			if tau := m.Shared.Tau; !(tau >= 1e-120 && tau <= 1e120) {
				return fmt.Errorf("temperature %g", tau)
			}
			if b := m.Shared.Between; !(b >= leastBetween && b <= mostBetween) {
				return fmt.Errorf("variance between classes %g", b)
			}
			return nil
		},
	})
	return h
}

// Comparing implements classifier.Comparing.
func (h *NCM) Comparing() {}

// Unfitted implements classifier.Unfitter: τ is fixed to that of this head.
func (h *NCM) Unfitted() (classifier.Learner, error) {
	cfg, m := h.cfg, h.Model()
	if m.Fitted() {
		cfg.Temperature = m.Shared.Tau
	}
	next := made(cfg)
	next.UseBackend(m.Backend)
	return next, nil
}

// Load returns the head that Save described.
func Load(s classifier.State) (*NCM, error) { return classtable.Load("ncm", s, New) }

// Temperature returns τ, 0 before the base session.
func (h *NCM) Temperature() float64 { return h.Model().Shared.Tau }

// TakesUnit implements moments.Learner; LearnMoments takes O(Cd). Statistics
// cannot leave one example out: if τ is to be fitted it gets its default
// (DefaultTemperature). The only other difference from learning the examples is
// that those were rounded to float32 after scaling to length 1.
func (h *NCM) TakesUnit() bool { return h.cfg.Metric == Cosine }

// Export implements classifier.Exporter.
func (h *NCM) Export(g *onnx.Graph, x string) (logProb, novelty string, err error) {
	if err := h.CheckFitted("export"); err != nil {
		return "", "", err
	}
	s := h.Model().Shared
	scores, novelty := s.means.graph(g, x, s.Between == 0)
	return classifier.LogSoftmaxGraph(g, g.Op("Div", scores, g.Scalar(s.Tau))), novelty, nil
}

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *NCM) Clone() (classifier.Learner, error) {
	next := *h
	return &next, nil
}
