package ppcaonline

import (
	"context"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Online is a head with one PPCA per class that learns one example at a time,
// O(dq²) each, in the order of the rows.
type Online struct {
	classtable.Head[shared, *engine.Model]
	cfg Config
}

type model = classtable.Model[shared, *engine.Model]

// shared holds what the classes share.
type shared struct {
	// Sigma2 is σ₀², frozen after the base session.
	Sigma2 float64 `json:"starting_sigma2"`
	scorer *scorer
}

var _ classifier.Exporter = (*Online)(nil)

// New returns an unfitted head.
func New(cfg Config) (*Online, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Online{cfg: cfg, Head: classtable.New(classtable.Method[shared, *engine.Model]{
		Name: "ppca-online", Config: cfg, Unit: cfg.Normalize,
		Base: func(_ context.Context, m *model, s *moments.Session) error {
			m.Shared.Sigma2 = cfg.startingVariance(s)
			return nil
		},
		Fit: cfg.fit,
		Rescore: func(m *model, _ []int) (err error) {
			m.Shared.scorer, err = newScorer(m, cfg.Normalize)
			return err
		},
		Scoring: func(m *model) classifier.Scoring {
			return classifier.Scoring{Scores: m.Shared.scorer.scores, Novelty: classifier.Unseen, Batch: 64}
		},
		Fields: cfg.fields,
		Decode: decode,
	})}, nil
}

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *Online) Clone() (classifier.Learner, error) {
	next := *h
	return &next, nil
}

// Load returns the head that Save described.
func Load(s classifier.State) (*Online, error) { return classtable.Load("ppca-online", s, New) }

// fit returns the model of a class after learning more examples.
func (c Config) fit(m *model, old *engine.Model, change classtable.Change) (*engine.Model, error) {
	z, first := change.Float64(), 0
	var next *engine.Model
	if old != nil {
		next = old.Clone()
	} else {
		var err error
		if next, err = engine.New(c.engine(m), c.start(m, change.Class, dense.Row(z, 0))); err != nil {
			return nil, err
		}
		first = 1
	}
	for i := first; i < z.Rows; i++ {
		if err := next.Step(dense.Row(z, i)); err != nil {
			return nil, err
		}
	}
	next.EndClass()
	return next, nil
}

// engine returns the configuration of the model of a class.
func (c Config) engine(m *model) engine.Config {
	e := c.Config
	e.MinSigma2 = c.Floor * m.Shared.Sigma2
	return e
}

// components returns the number of components for dimension d.
func (c Config) components(d int) int { return max(0, min(c.Q, d-1)) }

// start returns the parameters before the second example: the first one as
// mean, σ₀² or the floor, and small random directions that depend only on the
// class's name. EM needs some: zero would stay zero.
func (c Config) start(m *model, class string, first []float64) engine.Params {
	rng := random.StreamOf(c.Seed, "classifier/ppcaonline/start", []string{class})
	sigma2 := m.Shared.Sigma2
	p := engine.Params{Mean: slices.Clone(first), W: dense.New(m.Dim, c.components(m.Dim)),
		Sigma2: math.Max(1, c.Floor) * sigma2}
	scale := math.Sqrt(startingShare * sigma2 / float64(m.Dim))
	for i := range p.W.Data {
		p.W.Data[i] = scale * rng.NormFloat64()
	}
	return p
}

// startingShare is the squared length of a starting direction, in units of σ₀².
const startingShare = 0.1

// startingVariance returns σ₀²: as given, or the variance of a coordinate
// within the classes of the base session; if no class has two different
// examples, that of all examples; if these are equal too, a tenth of their mean
// square.
func (c Config) startingVariance(s *moments.Session) float64 {
	if c.Sigma2 != Auto {
		return c.Sigma2
	}
	var within float64
	for _, e := range s.Classes {
		within += e.Scatter()
	}
	all := classifier.Placed(s.X, dense.Range(0, s.X.Rows), c.Normalize)
	square := dense.SumSquares(all.Data)
	n := all.Rows
	for _, v := range []float64{
		within / float64(max(1, n-len(s.Classes))), moments.Scatter(all) / float64(max(1, n-1)),
		0.1 * square / float64(n),
	} {
		if v /= float64(s.Dim); v >= 1e-12 {
			return math.Min(v, 1e12)
		}
	}
	return 1e-12
}
