package gpc

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Head is a Gaussian process classifier: lsm or ove.
type Head struct {
	method string
	cfg    Config
	dim    int
	all    members
	model  *model // nil before the base session
}

var (
	_ classifier.Learner         = (*Head)(nil)
	_ classifier.Forgetter       = (*Head)(nil)
	_ classifier.SampleForgetter = (*Head)(nil)
	_ classifier.Saver           = (*Head)(nil)
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

// Classes implements classifier.Head.
func (h *Head) Classes() []string { return h.all.Names() }

// Dim implements classifier.Head.
func (h *Head) Dim() int { return h.dim }

// Learn implements classifier.Learner: it samples again from all stored
// examples, at the cost given in doc.go. The error is a *TooManyError if there
// are more than the settings allow.
func (h *Head) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("%s: learn: %w", h.method, err)
	}
	all := h.all.Clone()
	for _, g := range classifier.GroupByClass(y) {
		old, _ := all.Get(g.Class)
		all.Put(g.Class, old.Plus(x, g.Rows))
	}
	if err := h.replace(ctx, x.Cols, all); err != nil {
		return fmt.Errorf("%s: learn: %w", h.method, err)
	}
	return nil
}

// replace fits a head with other members; without any, the head is unfitted.
func (h *Head) replace(ctx context.Context, dim int, all members) error {
	if all.Len() == 0 {
		*h = Head{method: h.method, cfg: h.cfg}
		return nil
	}
	if err := h.cfg.fits(h.method, &all); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m, err := newModel(h.method, h.cfg, dim, &all)
	if err != nil {
		return err
	}
	if err := m.fit(ctx, h.cfg); err != nil {
		return err
	}
	h.dim, h.all, h.model = dim, all, m
	return nil
}

// Forget implements classifier.Forgetter: it samples again from the remaining
// examples.
func (h *Head) Forget(name string) error {
	if _, ok := h.all.Get(name); !ok {
		return fmt.Errorf("%s: forget %q: %w", h.method, name, classifier.ErrUnknownClass)
	}
	all := h.all.Clone()
	all.Drop(name)
	if err := h.replace(context.Background(), h.dim, all); err != nil {
		return fmt.Errorf("%s: forget %q: %w", h.method, name, err)
	}
	return nil
}

// ForgetSamples implements classifier.SampleForgetter: it samples again from
// the remaining examples.
func (h *Head) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("%s: forget samples: %w", h.method, err)
	}
	all := h.all.Clone()
	for _, g := range classifier.GroupByClass(y) {
		old, ok := all.Get(g.Class)
		if !ok {
			return fmt.Errorf("%s: forget samples of %q: %w", h.method, g.Class, classifier.ErrUnknownClass)
		}
		left, err := old.Minus(x, g.Rows)
		if err != nil {
			return fmt.Errorf("%s: forget samples of %q: %w", h.method, g.Class, err)
		}
		if len(left) == 0 {
			all.Drop(g.Class)
		} else {
			all.Put(g.Class, left)
		}
	}
	if err := h.replace(context.Background(), h.dim, all); err != nil {
		return fmt.Errorf("%s: forget samples: %w", h.method, err)
	}
	return nil
}

// Score implements classifier.Head. The novelty is the variance of the latent
// functions relative to their prior variance, averaged over the classes.
func (h *Head) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Score(dst, novelty, x)
}

// batchValues bounds the values of f that are processed at a time.
const batchValues = 1 << 20

// scoring returns log-probabilities and, in one more column, the novelty.
func (h *Head) scoring() classifier.Scoring {
	perRow := max(1, h.cfg.Chains*h.cfg.Draws*h.all.Len())
	return classifier.Scoring{
		Method: h.method, Head: h, Batch: max(1, min(256, batchValues/perRow)),
		Scores:  func(x blas32.General) (blas64.General, error) { return h.model.predict(x) },
		LogProb: func(dst, scores []float64) { copy(dst, scores) },
		Novelty: func(scores []float64) float64 { return scores[len(scores)-1] },
	}
}
