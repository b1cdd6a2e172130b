package ncm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// batchRows bounds the rows scored in float64 at a time.
const batchRows = 256

// NCM is a nearest class mean head.
type NCM struct {
	cfg Config
	model
}

// model is the fitted part; every change makes a new one.
type model struct {
	dim     int
	tau     float64
	classes classifier.Table[moments.Total]
	// centre is the mean of the class means (zero for cosine) and means (C×d)
	// is relative to it; both follow from classes.
	centre []float64
	means  blas64.General
	sq     []float64 // ‖means‖², Euclidean
}

var (
	_ classifier.Learner         = (*NCM)(nil)
	_ classifier.Forgetter       = (*NCM)(nil)
	_ classifier.SampleForgetter = (*NCM)(nil)
	_ classifier.Saver           = (*NCM)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*NCM, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &NCM{cfg: cfg}, nil
}

// Classes implements classifier.Head.
func (h *NCM) Classes() []string { return h.classes.Names() }

// Dim implements classifier.Head.
func (h *NCM) Dim() int { return h.dim }

// Temperature returns τ, 0 before the base session.
func (h *NCM) Temperature() float64 { return h.tau }

// Learn implements classifier.Learner in O(nd).
func (h *NCM) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("ncm: learn: %w", err)
	}
	next := h.next(x.Cols)
	groups := classifier.GroupByClass(y)
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("ncm: learn: %w", err)
		}
		old, _ := next.classes.Get(g.Class)
		next.classes.Put(g.Class, old.Plus(h.cfg.place(x, g.Rows)))
	}
	next.derive(h.cfg)
	if next.tau == 0 {
		tau, err := fitTemperature(ctx, h.cfg, &next, x, groups)
		if err != nil {
			return fmt.Errorf("ncm: learn: %w", err)
		}
		next.tau = tau
	}
	h.model = next
	return nil
}

// Forget implements classifier.Forgetter.
func (h *NCM) Forget(name string) error {
	if _, ok := h.classes.Get(name); !ok {
		return fmt.Errorf("ncm: forget %q: %w", name, classifier.ErrUnknownClass)
	}
	next := h.next(h.dim)
	next.classes.Drop(name)
	next.derive(h.cfg)
	h.model = next
	return nil
}

// ForgetSamples implements classifier.SampleForgetter.
func (h *NCM) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("ncm: forget samples: %w", err)
	}
	next := h.next(h.dim)
	for _, g := range classifier.GroupByClass(y) {
		if err := next.subtract(h.cfg, x, g); err != nil {
			return fmt.Errorf("ncm: forget samples of %q: %w", g.Class, err)
		}
	}
	next.derive(h.cfg)
	h.model = next
	return nil
}

// Score implements classifier.Head in O(Cd) per row. The novelty is the
// distance to the nearest mean, 1−cos or Euclidean.
func (h *NCM) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Score(dst, novelty, x)
}

func (h *NCM) scoring() classifier.Scoring {
	return classifier.Scoring{
		Method: "ncm", Head: h, LogProb: h.logProb, Novelty: h.novelty,
		Scores: func(x blas32.General) (blas64.General, error) { return h.scores(h.cfg, x) },
	}
}

func (h *NCM) logProb(dst, s []float64) {
	for j, v := range s {
		dst[j] = v / h.tau
	}
	classifier.LogSoftmax(dst)
}

func (h *NCM) novelty(s []float64) float64 {
	best := slices.Max(s)
	if h.cfg.Metric == Cosine {
		return 1 - best
	}
	return math.Sqrt(-2 * best)
}

// scores returns cos(x, m) or −‖x−m‖²/2 (n×C) in float64.
func (m *model) scores(cfg Config, x blas32.General) (blas64.General, error) {
	z := cfg.place(x, classifier.Range(0, x.Rows))
	for i := range x.Rows {
		for j, c := range m.centre {
			z.Data[i*z.Stride+j] -= c
		}
	}
	s := dense.New(x.Rows, m.classes.Len())
	if err := linalg.MulTrans64(s, z, m.means); err != nil {
		return s, err
	}
	if cfg.Metric == Euclidean {
		m.toDistances(s, z)
	}
	return s, nil
}

// toDistances turns z·m into −‖z−m‖²/2.
func (m *model) toDistances(s, z blas64.General) {
	for i := range s.Rows {
		v := blas64.Vector{N: z.Cols, Data: z.Data[i*z.Stride:], Inc: 1}
		sq := blas64.Dot(v, v)
		for j, msq := range m.sq {
			at := i*s.Stride + j
			s.Data[at] = min(0, s.Data[at]-(sq+msq)/2)
		}
	}
}

// place returns rows of x as the metric sees them.
func (c Config) place(x blas32.General, rows []int) blas64.General {
	return classifier.Placed(x, rows, c.Metric == Cosine)
}

// next returns a copy to change; totals are shared, as they are never
// written.
func (h *NCM) next(dim int) model {
	return model{dim: dim, tau: h.tau, classes: h.classes.Clone()}
}
