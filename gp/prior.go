package gp

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// A Prior is f ~ N(0, K) at n inputs, as a kernel matrix or as features. It is
// never changed: safe for concurrent use.
type Prior struct {
	// k is K (n×n) in function space.
	k blas64.General
	// phi is Φ (n×r) in weight space, where f = Φw and w ~ N(0, I).
	phi     blas64.General
	weights bool
	mul     linalg.Backend // nil is gonum
}

// On returns the prior with m as the backend of everything that is done with
// it, in place of gonum. Fits by two backends differ in the last bits, and so
// may, rarely, their draws.
func (p Prior) On(m linalg.Backend) Prior {
	p.mul = m
	return p
}

func (p Prior) raw() linalg.Raw {
	if p.mul == nil {
		return linalg.Gonum{}
	}
	return p.mul.Raw()
}

// factorize is the function of that name on the prior's backend.
func (p Prior) factorize(a blas64.General) (blas64.Triangular, bool) {
	ok := linalg.Factorize(p.raw(), a)
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}, ok
}

// FunctionSpace returns the prior of a kernel matrix (n×n, both triangles
// filled, positive semi-definite), which is kept and must not change.
func FunctionSpace(k blas64.General) (Prior, error) {
	if err := dense.Valid(k); err != nil {
		return Prior{}, fmt.Errorf("gp: prior: %w", err)
	}
	if k.Rows != k.Cols || k.Rows == 0 {
		return Prior{}, fmt.Errorf("gp: prior: kernel matrix of %d×%d", k.Rows, k.Cols)
	}
	return Prior{k: k}, finite(k)
}

// WeightSpace returns the prior K = ΦΦᵀ of features (n×r), which are kept and
// must not change.
func WeightSpace(phi blas64.General) (Prior, error) {
	if err := dense.Valid(phi); err != nil {
		return Prior{}, fmt.Errorf("gp: prior: %w", err)
	}
	if phi.Rows == 0 || phi.Cols == 0 {
		return Prior{}, fmt.Errorf("gp: prior: features of %d×%d", phi.Rows, phi.Cols)
	}
	return Prior{phi: phi, weights: true}, finite(phi)
}

func finite(m blas64.General) error {
	for i := range m.Rows {
		for _, v := range dense.Row(m, i) {
			if v-v != 0 { // NaN for NaN and for ±Inf
				return fmt.Errorf("gp: prior: row %d holds a NaN or an infinity", i)
			}
		}
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

// Width returns the columns that rows to predict at have: n, or r in weight
// space.
func (p Prior) Width() int {
	if p.weights {
		return p.phi.Cols
	}
	return p.k.Cols
}

// root returns R (r×n) with RᵀR = K in function space.
func (p Prior) root() blas64.General {
	r := copied(p.k)
	if _, ok := p.factorize(r); !ok {
		r, _ = pivotedRoot(p.k)
		return r
	}
	transpose(r)
	return r
}

// timesKappa returns Kκ, or Φᵀκ in weight space.
func (p Prior) timesKappa(kappa []float64) []float64 {
	out := make([]float64, p.Width())
	if p.weights {
		blas64.Gemv(blas.Trans, 1, p.phi, dense.Vector(kappa), 0, dense.Vector(out))
	} else {
		blas64.Gemv(blas.NoTrans, 1, p.k, dense.Vector(kappa), 0, dense.Vector(out))
	}
	return out
}

// system overwrites dst with B = I + Ω^½KΩ^½, or with A = I + ΦᵀΩΦ in weight
// space; of the function-space form only the lower triangle.
func (p Prior) system(dst blas64.General, half []float64) error {
	if p.weights {
		return p.weightSystem(dst, half)
	}
	for i := range dst.Rows {
		to, from := dense.Row(dst, i), dense.Row(p.k, i)
		for j := range i + 1 {
			to[j] = half[i] * from[j] * half[j]
		}
		to[i]++
	}
	return nil
}

func (p Prior) weightSystem(dst blas64.General, half []float64) error {
	scaled := dense.New(p.phi.Cols, p.phi.Rows)
	for i, h := range half {
		for j, v := range dense.Row(p.phi, i) {
			scaled.Data[j*scaled.Stride+i] = h * v
		}
	}
	g, err := linalg.Solver{Backend: p.mul}.Gram(scaled)
	if err != nil {
		return err
	}
	for i := range dst.Rows {
		copy(dense.Row(dst, i), dense.Row(g, i))
		dense.Row(dst, i)[i]++
	}
	return nil
}

func normals(rng *rand.Rand, dst []float64) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
}
