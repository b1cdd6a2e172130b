package gpsoftmax

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Head is a Gaussian process classifier: lsm or ove.
type Head struct {
	exemplars.Store
	method string
	cfg    Config
	model  *model // nil before the base session
}

var (
	_ classifier.Learner         = (*Head)(nil)
	_ classifier.Forgetter       = (*Head)(nil)
	_ classifier.SampleForgetter = (*Head)(nil)
	_ classifier.Saver           = (*Head)(nil)
	_ classifier.Counting        = (*Head)(nil)
)

// New returns an unfitted head of a method, LSM or OVE.
func New(method string, cfg Config) (*Head, error) {
	if method != LSM && method != OVE {
		return nil, fmt.Errorf("gpc: %q is neither %s nor %s", method, LSM, OVE)
	}
	if method == OVE {
		cfg = setting.OrDefault(cfg, DefaultOVE())
	}
	cfg = setting.OrDefault(cfg, DefaultLSM())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Head{method: method, cfg: cfg}, nil
}

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *Head) Clone() (classifier.Learner, error) {
	next := *h
	return &next, nil
}

// Counting implements classifier.Counting.
func (h *Head) Counting() bool { return true }

// Learn implements classifier.Learner: it samples again from all stored
// examples, at the cost given in doc.go. The error is a *TooManyError if there
// are more than the settings allow.
func (h *Head) Learn(ctx context.Context, x blas32.General, y []string) error {
	frame := h.Frame
	x, groups, err := frame.Session(x, y, h.Dim(), h.cfg.Normalize, h.cfg.Lengthscale)
	if err == nil {
		err = h.fit(ctx, h.All.With(x, groups))
	}
	if err != nil {
		return fmt.Errorf("%s: learn: %w", h.method, err)
	}
	h.Frame = frame
	return nil
}

// fit samples from other examples.
func (h *Head) fit(ctx context.Context, all exemplars.Table) error {
	if err := h.cfg.fits(h.method, all); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m, err := newModel(h.method, h.cfg, all)
	if err != nil {
		return err
	}
	if m.draws, err = sample(ctx, h.cfg, m.like, m.data); err != nil {
		return err
	}
	h.All, h.model = all, m
	return nil
}

// Forget implements classifier.Forgetter: it samples again from the remaining
// examples.
func (h *Head) Forget(name string) error {
	return exemplars.Forget(h.method, h.All, name, h.drop)
}

// ForgetSamples implements classifier.SampleForgetter in the same way.
func (h *Head) ForgetSamples(x blas32.General, y []string) error {
	return exemplars.ForgetSamples(h.method, h.All, h.Frame.Of(x), y, h.drop)
}

func (h *Head) drop(rows []int) error {
	all, _ := h.All.Without(rows)
	if len(all.Classes) == 0 {
		*h = Head{method: h.method, cfg: h.cfg}
		return nil
	}
	return h.fit(context.Background(), all)
}

// Score implements classifier.Head. The novelty is that of model.novelty.
func (h *Head) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	perRow := max(1, h.cfg.Chains*h.cfg.Draws*len(h.All.Classes))
	return classifier.Scoring{
		Method: h.method, Head: h, Batch: max(1, min(256, batchValues/perRow)),
		Scores:  func(x blas32.General) (blas64.General, error) { return h.model.predict(h.Frame.Of(x)) },
		LogProb: func(dst, scores []float64) { copy(dst, scores) },
		Novelty: func(scores []float64) float64 { return scores[len(scores)-1] },
	}.Score(dst, novelty, x)
}

// batchValues bounds the values of f that are processed at a time.
const batchValues = 1 << 20
