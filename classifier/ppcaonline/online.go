package ppcaonline

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/oem"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Online is a head with one PPCA a class that learns an example at a time.
type Online struct {
	cfg     Config
	dim     int
	sigma2  float64 // σ₀², frozen with the base session
	classes classifier.Table[*oem.Model]
	scorer  *scorer // nil before the base session
}

var (
	_ classifier.Learner   = (*Online)(nil)
	_ classifier.Forgetter = (*Online)(nil)
	_ classifier.Saver     = (*Online)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*Online, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Online{cfg: cfg}, nil
}

// Classes implements classifier.Head.
func (h *Online) Classes() []string { return h.classes.Names() }

// Dim implements classifier.Head.
func (h *Online) Dim() int { return h.dim }

// Learn implements classifier.Learner: the examples of a class are taken one
// after the other, in the order of the rows, O(dq²) each. Old classes go on
// from where they are.
func (h *Online) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.dim); err != nil {
		return fmt.Errorf("ppca-online: learn: %w", err)
	}
	groups := classifier.GroupByClass(y)
	next := *h
	next.dim, next.classes = x.Cols, h.classes.Clone()
	if h.scorer == nil {
		next.sigma2 = h.startingVariance(x, groups)
	}
	models, errs := make([]*oem.Model, len(groups)), make([]error, len(groups))
	dense.Parallel(len(groups), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			models[i], errs[i] = next.extended(x, groups[i])
		}
	})
	for i, g := range groups {
		if errs[i] != nil {
			return fmt.Errorf("ppca-online: learn: class %q: %w", g.Class, errs[i])
		}
		next.classes.Put(g.Class, models[i])
	}
	return h.become(next)
}

// become makes the scorer of the next state, which then replaces this one.
func (h *Online) become(next Online) error {
	var err error
	if next.scorer, err = newScorer(next.dim, next.classes.Values()); err != nil {
		return fmt.Errorf("ppca-online: %w", err)
	}
	*h = next
	return nil
}

// extended returns the model of a class with the examples of g learned.
func (h *Online) extended(x blas32.General, g classifier.Group) (*oem.Model, error) {
	z := classifier.Placed(x, g.Rows, h.cfg.Normalize)
	first := 0
	m, ok := h.classes.Get(g.Class)
	if ok {
		m = m.Clone()
	} else {
		var err error
		if m, err = oem.New(h.modelConfig(), h.start(g.Class, dense.Row(z, 0))); err != nil {
			return nil, err
		}
		first = 1
	}
	for i := first; i < z.Rows; i++ {
		if err := m.Step(dense.Row(z, i)); err != nil {
			return nil, err
		}
	}
	m.EndClass()
	return m, nil
}

// modelConfig is that of a class's model.
func (h *Online) modelConfig() oem.Config {
	c := h.cfg.Config
	c.MinSigma2 = h.cfg.Floor * h.sigma2
	return c
}

// components is the number that fits the dimension.
func (h *Online) components() int { return max(0, min(h.cfg.Q, h.dim-1)) }

// start returns the parameters before the second example: the first one as
// mean, σ₀² or the floor, and small random directions, which depend on the class's name
// alone. EM needs some: zero would stay zero.
func (h *Online) start(class string, first []float64) oem.Params {
	name := fnv.New64a()
	_, _ = name.Write([]byte(class)) // never fails
	rng := rand.New(rand.NewPCG(h.cfg.Seed, name.Sum64()))
	p := oem.Params{Mean: append([]float64(nil), first...), W: dense.New(h.dim, h.components()), Sigma2: math.Max(1, h.cfg.Floor) * h.sigma2}
	scale := math.Sqrt(startingShare * h.sigma2 / float64(h.dim))
	for i := range p.W.Data {
		p.W.Data[i] = scale * rng.NormFloat64()
	}
	return p
}

// startingShare is the squared length of a starting direction, in units of σ₀².
const startingShare = 0.1

// startingVariance is σ₀²: as given, or the variance of a coordinate within
// the classes of the base session; where no class has two different examples,
// that of all examples; where these are equal too, a tenth of their mean
// square.
func (h *Online) startingVariance(x blas32.General, groups []classifier.Group) float64 {
	if h.cfg.Sigma2 != Auto {
		return h.cfg.Sigma2
	}
	within, all := 0.0, h.scatter(x, classifier.Range(0, x.Rows))
	for _, g := range groups {
		within += h.scatter(x, g.Rows)
	}
	var square float64
	for _, v := range classifier.Placed(x, classifier.Range(0, x.Rows), h.cfg.Normalize).Data {
		square += v * v
	}
	for _, v := range []float64{
		within / float64(max(1, x.Rows-len(groups))), all / float64(max(1, x.Rows-1)), 0.1 * square / float64(x.Rows),
	} {
		if v /= float64(x.Cols); v >= 1e-12 {
			return math.Min(v, 1e12)
		}
	}
	return 1e-12
}

// scatter returns the sum of squared distances from the mean.
func (h *Online) scatter(x blas32.General, rows []int) float64 {
	z := classifier.Placed(x, rows, h.cfg.Normalize)
	total := moments.Total{}.Plus(z)
	centre := total.Mean()
	var sq float64
	for i, v := range z.Data {
		delta := v - centre[i%z.Cols]
		sq += delta * delta
	}
	return sq
}

// Forget implements classifier.Forgetter.
func (h *Online) Forget(name string) error {
	if _, ok := h.classes.Get(name); !ok {
		return fmt.Errorf("ppca-online: forget %q: %w", name, classifier.ErrUnknownClass)
	}
	next := *h
	next.classes = h.classes.Clone()
	next.classes.Drop(name)
	if next.classes.Len() == 0 {
		*h = Online{cfg: h.cfg}
		return nil
	}
	return h.become(next)
}
