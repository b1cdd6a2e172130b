package gp

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A sampler holds what the chains of a node share.
type sampler struct {
	prior Prior
	kappa []float64
	known []float64      // Kκ, or Φᵀκ, if m = 0
	root  blas64.General // R, RRᵀ = K, in function space
}

func newSampler(p Prior, kappa []float64) *sampler {
	s := &sampler{prior: p, kappa: kappa}
	if p.mean == nil {
		s.known = p.timesKappa(kappa)
	}
	if !p.weights {
		s.root = p.root()
	}
	return s
}

// run returns the last ω of every chain.
func (s *sampler) run(schedule Schedule, stream func(chain int) *rand.Rand) ([][]float64, error) {
	n := len(s.kappa)
	omega := make([][]float64, schedule.Chains)
	if !s.prior.weights && n >= leastIterated {
		return omega, s.runTogether(omega, schedule, stream)
	}
	return omega, dense.ParallelErr(schedule.Chains, func(c int) error {
		omega[c] = make([]float64, n)
		return s.runAlone(omega[c], schedule, stream(c))
	})
}

// start returns the f − m with which a chain starts.
func (s *sampler) start(schedule Schedule, rng *rand.Rand) []float64 {
	f, root := make([]float64, len(s.kappa)), s.root
	if s.prior.weights {
		root = s.prior.phi
	}
	if schedule.Start != AtDraw || root.Cols == 0 {
		return f
	}
	z := make([]float64, root.Cols)
	normals(rng, z)
	blas64.Gemv(blas.NoTrans, 1, root, dense.Vector(z), 0, dense.Vector(f))
	return f
}

// runAlone runs a chain that solves its systems directly.
func (s *sampler) runAlone(omega []float64, schedule Schedule, rng *rand.Rand) error {
	f, system := s.start(schedule, rng), dense.New(s.prior.width(), s.prior.width())
	for step := range schedule.Steps + 1 {
		if step > 0 {
			if err := s.draw(f, omega, system, rng); err != nil {
				return err
			}
		}
		s.prior.addMean(f)
		drawOmega(omega, f, rng)
	}
	return nil
}

// runTogether runs all chains in step. Their products with K are one product, and
// their systems are solved by conjugate gradients.
func (s *sampler) runTogether(omega [][]float64, schedule Schedule, stream func(chain int) *rand.Rand) error {
	n, chains := len(s.kappa), len(omega)
	if s.prior.k.Stride != n { // libraries would copy a part of a larger matrix for every product
		s.prior.k = dense.Clone(s.prior.k)
	}
	rngs := make([]*rand.Rand, chains)
	f, half := dense.New(chains, n), dense.New(chains, n)
	for step := range schedule.Steps + 1 {
		if step > 0 {
			if err := s.drawTogether(f, half, omega, rngs); err != nil {
				return err
			}
		}
		dense.Parallel(chains, func(c int) {
			if step == 0 {
				omega[c], rngs[c] = make([]float64, n), stream(c)
				copy(dense.Row(f, c), s.start(schedule, rngs[c]))
			}
			s.prior.addMean(dense.Row(f, c))
			drawOmega(omega[c], dense.Row(f, c), rngs[c])
		})
	}
	return nil
}

// drawOmega draws ω | f ~ PG(1, f).
func drawOmega(omega, f []float64, rng *rand.Rand) {
	for i := range omega {
		omega[i] = polyagamma.Draw(rng, f[i])
	}
}

// draw overwrites f with a draw from p(f − m | ω, y). It also overwrites system.
func (s *sampler) draw(f, omega []float64, system blas64.General, rng *rand.Rand) error {
	half, err := roots(omega, len(f))
	if err != nil {
		return err
	}
	if err := s.prior.factor(system, half); err != nil {
		return err
	}
	if s.prior.weights {
		s.weightDraw(f, s.knownGiven(omega), linalg.LowerTriangle(system), rng)
	} else {
		s.matheronDraw(f, s.knownGiven(omega), half, system, rng)
	}
	return nil
}

// knownGiven returns K(κ − Ωm), or Φᵀ(κ − Ωm).
func (s *sampler) knownGiven(omega []float64) []float64 {
	if s.known != nil {
		return s.known
	}
	return s.prior.timesKappa(s.prior.target(s.kappa, omega))
}

// weightDraw draws w = L⁻ᵀ(L⁻¹Φᵀκ + z), z ~ N(0, I), and f = Φw.
func (s *sampler) weightDraw(f, known []float64, l blas64.Triangular, rng *rand.Rand) {
	w, z := slices.Clone(known), make([]float64, len(known))
	normals(rng, z)
	blas64.Trsv(blas.NoTrans, l, dense.Vector(w))
	blas64.Axpy(1, dense.Vector(z), dense.Vector(w))
	blas64.Trsv(blas.Trans, l, dense.Vector(w))
	blas64.Gemv(blas.NoTrans, 1, s.prior.phi, dense.Vector(w), 0, dense.Vector(f))
}

// matheronDraw draws f = g − KΩ^½B⁻¹(Ω^½g + ε) with g = f₀ + Kκ.
func (s *sampler) matheronDraw(f, known, half []float64, l blas64.General, rng *rand.Rand) {
	z, v := make([]float64, s.root.Cols), make([]float64, len(f))
	normals(rng, z)
	normals(rng, v)
	copy(f, known)
	if len(z) > 0 {
		blas64.Gemv(blas.NoTrans, 1, s.root, dense.Vector(z), 1, dense.Vector(f))
	}
	for i := range v {
		v[i] += half[i] * f[i]
	}
	solve(l, v)
	scale(v, half)
	blas64.Gemv(blas.NoTrans, -1, s.prior.k, dense.Vector(v), 1, dense.Vector(f))
}

// drawTogether is matheronDraw for all chains, one per row of f. It also overwrites
// half.
func (s *sampler) drawTogether(f, half blas64.General, omega [][]float64, rngs []*rand.Rand) error {
	raw := s.prior.backend.Raw()
	z, v := dense.New(f.Rows, s.root.Cols), dense.New(f.Rows, f.Cols)
	err := dense.ParallelErr(f.Rows, func(c int) error {
		r, err := roots(omega[c], f.Cols)
		if err == nil {
			copy(dense.Row(half, c), r)
			normals(rngs[c], dense.Row(z, c))
			normals(rngs[c], dense.Row(v, c))
		}
		return err
	})
	if err != nil {
		return err
	}
	if clear(f.Data); z.Cols > 0 {
		if err := linalg.MulFew64(raw, f, z, s.root); err != nil {
			return err
		}
	}
	for c := range f.Rows {
		floats.Add(dense.Row(f, c), s.knownGiven(omega[c]))
		for i, h := range dense.Row(half, c) {
			dense.Row(v, c)[i] += h * dense.Row(f, c)[i]
		}
	}
	if err := s.prior.solveTogether(v, half); err != nil {
		return err
	}
	for c := range v.Rows {
		scale(dense.Row(v, c), dense.Row(half, c))
	}
	moved := dense.New(f.Rows, f.Cols)
	if err := linalg.MulFew64(raw, moved, v, s.prior.k); err != nil {
		return err
	}
	floats.Sub(f.Data, moved.Data)
	return nil
}
