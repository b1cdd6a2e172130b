package engine

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Model is a Gaussian that learns one example at a time. It is not safe for
// concurrent use; Clone is cheap.
type Model struct {
	cfg   Config
	k     int
	now   *Gaussian
	ref   *Gaussian // θ*; nil before the first EndClass of the class policy
	stats Statistics
	pulls Pulls
	// fisher is F*, cached as long as the reference; nil means not computed.
	fisher *fisherDiagonal
}

// Statistics holds running averages of the sufficient statistics.
type Statistics struct {
	S0 float64        // ‖x−μ‖²
	S1 blas64.General // (x−μ)zᵀ, d×q
	S2 blas64.General // σ²M⁻¹ + zzᵀ, q×q
	S3 []float64      // x, d
}

// Pulls counts what the R-steps did to single elements.
type Pulls struct {
	// All counts the elements pulled, Clamped those whose share would have left
	// [0, 1].
	All, Clamped int
}

// New returns a model that starts at the given parameters, with their
// statistics.
func New(cfg Config, start Params) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g, err := NewGaussian(start)
	if err != nil {
		return nil, err
	}
	d, q := len(start.Mean), start.W.Cols
	m := &Model{cfg: cfg, now: g,
		stats: Statistics{S1: dense.New(d, q), S2: dense.New(q, q), S3: slices.Clone(start.Mean)}}
	dense.Copy(m.stats.S1, start.W)
	for j := range q {
		m.stats.S2.Data[j*q+j] = 1
		m.stats.S0 += g.wtw.Data[j*q+j]
	}
	m.stats.S0 += float64(d) * start.Sigma2
	return m, nil
}

// Clone returns an independent copy.
func (m *Model) Clone() *Model {
	c := *m
	c.stats = m.stats.clone()
	return &c
}

func (s Statistics) clone() Statistics {
	s.S1.Data, s.S2.Data, s.S3 = slices.Clone(s.S1.Data), slices.Clone(s.S2.Data), slices.Clone(s.S3)
	return s
}

// Gaussian returns the current parameters.
func (m *Model) Gaussian() *Gaussian { return m.now }

// Pulls returns the counts of the R-steps so far.
func (m *Model) Pulls() Pulls { return m.pulls }

// EndClass tells the class policy that the examples of a class (or session) are
// complete: the current parameters become its reference.
func (m *Model) EndClass() {
	if m.cfg.Policy == Class {
		m.ref, m.fisher = m.now, nil
	}
}

// Step learns one example (d). On error nothing changes. O(dq² + q³).
func (m *Model) Step(x []float64) error {
	if len(x) != len(m.now.Mean) {
		return fmt.Errorf("step: the example has %d values, the model has %d", len(x), len(m.now.Mean))
	}
	next := m.Clone()
	next.k++
	next.expect(x)
	p, err := next.maximise()
	if err != nil {
		return fmt.Errorf("step %d: %w", next.k, err)
	}
	next.restrain(&p)
	if next.now, err = NewGaussian(p); err != nil {
		return fmt.Errorf("step %d: %w", next.k, err)
	}
	*m = *next
	return nil
}

// expect is the E-step (eq. 5, 9–12).
func (m *Model) expect(x []float64) {
	g, s, gamma := m.now, &m.stats, m.cfg.gamma(m.k)
	q := g.W.Cols
	delta, z := make([]float64, len(x)), make([]float64, q)
	for j, mu := range g.Mean {
		delta[j] = x[j] - mu
		s.S3[j] += gamma * (x[j] - s.S3[j])
	}
	g.latent(z, delta)
	s.S0 += gamma * (dense.SumSquares(delta) - s.S0)
	for i, v := range delta {
		row := s.S1.Data[i*q : (i+1)*q]
		for j := range row {
			row[j] += gamma * (v*z[j] - row[j])
		}
	}
	for i := range q {
		row := s.S2.Data[i*q : (i+1)*q]
		for j := range row {
			row[j] += gamma * (g.Sigma2*g.minv.Data[i*q+j] + z[i]*z[j] - row[j])
		}
	}
}

// maximise is the M-step (eq. 13–15).
func (m *Model) maximise() (Params, error) {
	s := m.stats
	d, q := len(s.S3), s.S2.Rows
	p := Params{Mean: slices.Clone(s.S3), W: dense.New(d, q)}
	sum := s.S0
	if q > 0 {
		inverse, _, err := invert(dense.Clone(s.S2))
		if err != nil {
			return p, err
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, s.S1, inverse, 0, p.W)
		wtw := dense.New(q, q)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, p.W, p.W, 0, wtw)
		sum += blas64.Dot(dense.Vector(s.S2.Data), dense.Vector(wtw.Data)) - 2*blas64.Dot(dense.Vector(s.S1.Data),
			dense.Vector(p.W.Data))
	}
	p.Sigma2 = max(sum/float64(d), m.cfg.MinSigma2, leastSigma2)
	return p, nil
}

// restrain is the R-step (eq. 16–18): it pulls p toward the reference.
func (m *Model) restrain(p *Params) {
	ref := m.ref
	if m.cfg.Policy == Step {
		ref, m.fisher = m.now, nil
	}
	if m.cfg.Policy == None || ref == nil {
		return
	}
	beta := m.cfg.beta(m.k)
	if m.cfg.RStep == Identity {
		m.pulls.pull(p.Mean, ref.Mean, nil, same(beta))
		m.pulls.pull(p.W.Data, ref.W.Data, nil, same(beta))
		p.Sigma2 = between(p.Sigma2, ref.Sigma2, m.pulls.share(beta))
		return
	}
	if m.fisher == nil {
		f := ref.fisher(m.cfg.Fisher)
		m.fisher = &f
	}
	share := func(f float64) float64 { return beta / f }
	if m.cfg.RStep == ByFisher {
		share = func(f float64) float64 { return beta * f }
	}
	m.pulls.pull(p.Mean, ref.Mean, m.fisher.Mean, share)
	m.pulls.pull(p.W.Data, ref.W.Data, m.fisher.W.Data, share)
	p.Sigma2 = between(p.Sigma2, ref.Sigma2, m.pulls.share(share(m.fisher.Sigma2)))
}

func same(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// pull moves every element of x toward its reference by the element's share.
func (c *Pulls) pull(x, ref, fisher []float64, share func(float64) float64) {
	for i := range x {
		f := 0.0
		if fisher != nil {
			f = fisher[i]
		}
		x[i] = between(x[i], ref[i], c.share(share(f)))
	}
}

// between moves the share a of the way from x to ref; a = 1 gives exactly ref.
func between(x, ref, a float64) float64 { return (1-a)*x + a*ref }

// share clamps a to [0, 1] and counts. If nothing is known (0/0), nothing is
// pulled.
func (c *Pulls) share(a float64) float64 {
	c.All++
	switch {
	case a > 1:
		c.Clamped++
		return 1
	case a >= 0:
		return a
	}
	return 0
}
