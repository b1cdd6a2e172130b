package ppcaonline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// empty returns a snapshot without values, for reading, or of zeros. Only the
// class policy has a reference; its σ² is 0 if there is none yet.
func (cfg Config) empty(d int, zeros bool) engine.Snapshot {
	q := cfg.components(d)
	matrix := func(rows, cols int) blas64.General {
		if zeros {
			return dense.New(rows, cols)
		}
		return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1)} // the sizes may be forged
	}
	params := func() engine.Params { return engine.Params{Mean: matrix(1, d).Data, W: matrix(d, q)} }
	s := engine.Snapshot{Now: params(),
		Statistics: engine.Statistics{S1: matrix(d, q), S2: matrix(q, q), S3: matrix(1, d).Data}}
	if cfg.Policy == engine.Class {
		s.Reference = new(params())
	}
	return s
}

// fields describes the tensors of a class: "steps", "mean", "s3" (d), "w", "s1"
// (d×q), "sigma2", "s0", "s2" (q×q); with the class policy also
// "reference.mean", "reference.w" and "reference.sigma2".
func (cfg Config) fields(c *classifier.Codec, m *model, class **engine.Model) {
	s, d, q := cfg.empty(m.Dim, !c.Reading()), m.Dim, cfg.components(m.Dim)
	if *class != nil {
		none := s.Reference
		if s = (*class).Snapshot(); s.Reference == nil {
			s.Reference = none
		}
	}
	c.Int("steps", &s.Steps, 0, math.MaxInt32)
	params := func(prefix string, p *engine.Params) {
		c.Float64(prefix+"mean", &p.Mean, d)
		c.Float64(prefix+"w", &p.W.Data, d, q)
		c.Number(prefix+"sigma2", &p.Sigma2)
	}
	params("", &s.Now)
	c.Number("s0", &s.Statistics.S0)
	c.Float64("s1", &s.Statistics.S1.Data, d, q)
	c.Float64("s2", &s.Statistics.S2.Data, q, q)
	c.Float64("s3", &s.Statistics.S3, d)
	if s.Reference != nil {
		params("reference.", s.Reference)
	}
	if !c.Reading() {
		return
	}
	if s.Reference != nil && s.Reference.Sigma2 == 0 {
		s.Reference = nil
	}
	var err error
	*class, err = engine.Restore(cfg.engine(m), s)
	c.Fail(err)
}

// decode checks σ₀².
func decode(m *model, _ classifier.State, _ int) error {
	if v := m.Shared.Sigma2; !(v >= 1e-12 && v <= 1e12) {
		return fmt.Errorf("starting_sigma2: %g is outside 1e-12 … 1e12", v)
	}
	return nil
}
