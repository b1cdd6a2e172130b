package gp

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Prior is f ~ N(m, K) at n inputs, given as a kernel matrix or as features; m is
// 0 unless Around sets it.
// It is immutable and safe for concurrent use.
type Prior struct {
	// k is K (n×n) in function space.
	k blas64.General
	// phi is Φ (n×r) in weight space, where f = Φw and w ~ N(0, I).
	phi     blas64.General
	weights bool
	mean    []float64 // m, nil for 0
	backend linalg.Backend
}

// Around returns a copy of the prior with the mean m (n), which it retains and which
// must not change. Predictions are those of f − m: the caller adds m at the new
// inputs (Latent.Shift).
func (p Prior) Around(mean []float64) (Prior, error) {
	p.mean = mean
	return p, checkMean(mean, p.Len())
}

func checkMean(mean []float64, n int) error {
	if len(mean) != n {
		return fmt.Errorf("gp: prior: %d means of %d inputs", len(mean), n)
	}
	if i := slices.IndexFunc(mean, func(m float64) bool { return m-m != 0 }); i >= 0 {
		return fmt.Errorf("gp: prior: the mean of input %d is %g", i, mean[i])
	}
	return nil
}

// On returns a copy of the prior whose fits and predictions use m instead of
// gonum. Fits on two backends differ in the last bits, which can, rarely, change
// their draws.
func (p Prior) On(m linalg.Backend) Prior {
	p.backend = m
	return p
}

// FunctionSpace returns the prior of a kernel matrix (n×n, both triangles
// filled, positive semi-definite), which it retains and which must not change.
func FunctionSpace(k blas64.General) (Prior, error) {
	if err := checkSquare(k); err != nil {
		return Prior{}, fmt.Errorf("gp: prior: %w", err)
	}
	return Prior{k: k, backend: linalg.Backend{}}, finite(k)
}

// WeightSpace returns the prior K = ΦΦᵀ of features (n×r), which it retains and
// which must not change.
func WeightSpace(phi blas64.General) (Prior, error) {
	if err := dense.Valid(phi); err != nil {
		return Prior{}, fmt.Errorf("gp: prior: %w", err)
	}
	if phi.Rows == 0 || phi.Cols == 0 {
		return Prior{}, fmt.Errorf("gp: prior: features of %d×%d", phi.Rows, phi.Cols)
	}
	return Prior{phi: phi, weights: true, backend: linalg.Backend{}}, finite(phi)
}

// checkSquare returns an error unless k is a square, non-empty matrix.
func checkSquare(k blas64.General) error {
	if err := dense.Valid(k); err != nil {
		return err
	}
	if k.Rows != k.Cols || k.Rows == 0 {
		return fmt.Errorf("kernel matrix of %d×%d", k.Rows, k.Cols)
	}
	return nil
}

func finite(m blas64.General) error {
	if i := dense.NotFinite(m); i >= 0 {
		return fmt.Errorf("gp: prior: row %d holds a NaN or an infinity", i)
	}
	return nil
}

// Len returns n.
func (p Prior) Len() int {
	if p.weights {
		return p.phi.Rows
	}
	return p.k.Rows
}

// width returns the number of columns of the rows to predict at: n, or r in
// weight space.
func (p Prior) width() int {
	if p.weights {
		return p.phi.Cols
	}
	return p.k.Cols
}

// root returns R (n×r) with RRᵀ = K in function space.
func (p Prior) root() blas64.General {
	l, err := linalg.Cholesky(p.backend.Raw(), p.k, 0)
	if err != nil {
		r, _ := pivotedRoot(p.k)
		return dense.Transposed(r)
	}
	return l
}

// target returns κ − Ωm, the natural mean that an example gives to f − m.
func (p Prior) target(kappa, omega []float64) []float64 {
	if p.mean == nil {
		return kappa
	}
	t := slices.Clone(kappa)
	for i, w := range omega {
		t[i] -= w * p.mean[i]
	}
	return t
}

// addMean adds m to f.
func (p Prior) addMean(f []float64) {
	for i, m := range p.mean {
		f[i] += m
	}
}

// timesKappa returns Kκ, or Φᵀκ in weight space.
func (p Prior) timesKappa(kappa []float64) []float64 {
	out, op, m := make([]float64, p.width()), blas.NoTrans, p.k
	if p.weights {
		op, m = blas.Trans, p.phi
	}
	blas64.Gemv(op, 1, m, dense.Vector(kappa), 0, dense.Vector(out))
	return out
}

// factor overwrites the lower triangle of dst with the Cholesky factor of
// B = I + Ω^½KΩ^½, or of A = I + ΦᵀΩΦ in weight space.
func (p Prior) factor(dst blas64.General, half []float64) error {
	if p.weights {
		scaled := dense.New(p.phi.Cols, p.phi.Rows)
		for i, h := range half {
			for j, v := range dense.Row(p.phi, i) {
				dense.Row(scaled, j)[i] = h * v
			}
		}
		g, err := linalg.Solver{Backend: p.backend}.Gram(scaled)
		if err != nil {
			return err
		}
		dense.Copy(dst, g)
	}
	for i := range dst.Rows {
		to := dense.Row(dst, i)
		if !p.weights {
			for j, k := range dense.Row(p.k, i)[:i+1] {
				to[j] = half[i] * k * half[j]
			}
		}
		to[i]++
	}
	if !linalg.Factorize(p.backend.Raw(), dst) {
		return &linalg.NotPSDError{Order: dst.Rows}
	}
	return nil
}

func normals(rng *rand.Rand, dst []float64) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
}
