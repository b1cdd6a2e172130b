package gpsoftmax

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
)

// Head is a Gaussian process classifier: lsm or ove.
type Head struct {
	method string
	cfg    Config
	frame  classifier.Frame
	all    exemplars.Table
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

// Classes implements classifier.Head.
func (h *Head) Classes() []string { return h.all.Classes }

// Counting implements classifier.Counting.
func (h *Head) Counting() bool { return true }

// Dim implements classifier.Head.
func (h *Head) Dim() int { return h.all.X.Cols }

// Learn implements classifier.Learner: it samples again from all stored
// examples, at the cost given in doc.go. The error is a *TooManyError if there
// are more than the settings allow.
func (h *Head) Learn(ctx context.Context, x blas32.General, y []string) error {
	err := classifier.CheckExamples(x, y, h.Dim())
	if err == nil {
		frame := h.frame
		if h.model == nil {
			frame = classifier.FrameOf(x, y, h.cfg.scale())
		}
		if err = h.fit(ctx, h.all.With(frame.Of(x), classifier.GroupByClass(y))); err == nil {
			h.frame = frame
		}
	}
	if err != nil {
		return fmt.Errorf("%s: learn: %w", h.method, err)
	}
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
	h.all, h.model = all, m
	return nil
}

// Forget implements classifier.Forgetter: it samples again from the remaining
// examples.
func (h *Head) Forget(name string) error {
	return exemplars.Forget(h.method, h.all, name, h.drop)
}

// ForgetSamples implements classifier.SampleForgetter in the same way.
func (h *Head) ForgetSamples(x blas32.General, y []string) error {
	return exemplars.ForgetSamples(h.method, h.all, h.frame.Of(x), y, h.drop)
}

func (h *Head) drop(rows []int) error {
	all, _ := h.all.Without(rows)
	if len(all.Classes) == 0 {
		*h = Head{method: h.method, cfg: h.cfg}
		return nil
	}
	return h.fit(context.Background(), all)
}

// Score implements classifier.Head. The novelty is the variance of the latent
// functions relative to their prior variance, averaged over the classes.
func (h *Head) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	perRow := max(1, h.cfg.Chains*h.cfg.Draws*len(h.all.Classes))
	return classifier.Scoring{
		Method: h.method, Head: h, Batch: max(1, min(256, batchValues/perRow)),
		Scores:  func(x blas32.General) (blas64.General, error) { return h.model.predict(h.frame.Of(x)) },
		LogProb: func(dst, scores []float64) { copy(dst, scores) },
		Novelty: func(scores []float64) float64 { return scores[len(scores)-1] },
	}.Score(dst, novelty, x)
}

// batchValues bounds the values of f that are processed at a time.
const batchValues = 1 << 20
