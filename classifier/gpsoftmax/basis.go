package gpsoftmax

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A basis represents a function of the prior as f = Φt with t ~ N(0, I): its
// values at the examples, and at new inputs except for what these leave open.
// It is never changed.
type basis struct {
	kernel kernel.Kernel
	phi    blas64.General // Φ (n×r)
	k      blas64.General // K = ΦΦᵀ (n×n)
	// Only for kernels that are not linear: the r inputs that t stands for, and
	// the Cholesky factor of their covariances.
	pivots kernel.Points
	lower  blas64.Triangular
}

func newBasis(k kernel.Kernel, x kernel.Points) (*basis, error) {
	gram := k.Gram(x)
	if dense.NotFinite(gram) >= 0 {
		return nil, fmt.Errorf("the kernel matrix holds a NaN or an infinity: set normalize, or a larger lengthscale")
	}
	b := &basis{kernel: k, k: gram}
	if k.Kind == kernel.Linear {
		b.phi = k.Features(x.X)
		return b, nil
	}
	root, pivots := gp.Root(gram)
	b.phi = dense.Transposed(root)
	lower := dense.New(root.Rows, root.Rows)
	for i, p := range pivots {
		copy(dense.Row(lower, i), dense.Row(b.phi, p)[:i+1])
	}
	b.lower = linalg.LowerTriangle(lower)
	b.pivots = x.Pick(pivots)
	return b, nil
}

// features returns Φ of new inputs (q×r) and the variance of f there that t does
// not determine (q).
func (b *basis) features(z kernel.Points) (phi blas64.General, open []float64) {
	open = make([]float64, z.Len())
	if b.kernel.Kind == kernel.Linear {
		return b.kernel.Features(z.X), open
	}
	b.kernel.Diagonal(open, z)
	phi = dense.New(z.Len(), b.pivots.Len())
	b.kernel.Cross(phi, z, b.pivots)
	dense.Parallel(z.Len(), func(i int) {
		v := dense.Vector(dense.Row(phi, i))
		blas64.Trsv(blas.NoTrans, b.lower, v)
		open[i] = max(open[i]-blas64.Dot(v, v), 0)
	})
	return phi, open
}

// A gaussian is p(t | ω, κ) of one function, N(A⁻¹Φᵀκ, A⁻¹) with A = I + ΦᵀΩΦ.
// Examples with ω = 0 (where κ = 0 too) are ignored.
type gaussian struct {
	start []float64      // Φᵀκ
	rows  blas64.General // Φ of the others (m×r)
	half  []float64      // Ω^½ of them
	// l is the factor of B = I + Ω^½KΩ^½ (m×m), or of A (r×r) if that is smaller.
	l       blas64.Triangular
	weights bool
}

// given returns the posterior of one function.
func (b *basis) given(omega, kappa []float64) (*gaussian, error) {
	g := &gaussian{start: make([]float64, b.phi.Cols)}
	var active []int
	for i, w := range omega {
		if !(w >= 0 && w <= math.MaxFloat32) {
			return nil, fmt.Errorf("ω of example %d is %g", i, w)
		}
		if w > 0 {
			active = append(active, i)
			g.half = append(g.half, math.Sqrt(w))
			blas64.Axpy(kappa[i], dense.Vector(dense.Row(b.phi, i)), dense.Vector(g.start))
		}
	}
	g.rows = dense.Gather(b.phi, active)
	var err error
	if g.weights = len(active) > b.phi.Cols; g.weights {
		scaled := dense.Transposed(g.rows)
		for i := range scaled.Rows {
			for j, h := range g.half {
				dense.Row(scaled, i)[j] *= h
			}
		}
		a := linalg.Gram(scaled) // ΦᵀΩΦ
		for i := range a.Rows {
			dense.Row(a, i)[i]++
		}
		g.l, err = factorized(a)
		return g, err
	}
	m := dense.New(len(active), len(active))
	for i, r := range active {
		to, from := dense.Row(m, i), dense.Row(b.k, r)
		for j, s := range active[:i+1] {
			to[j] = g.half[i] * from[s] * g.half[j]
		}
		to[i]++
	}
	g.l, err = factorized(m)
	return g, err
}

// factorized overwrites the lower triangle of a with its Cholesky factor.
func factorized(a blas64.General) (blas64.Triangular, error) {
	if !linalg.Factorize(linalg.Gonum{}, a) {
		return blas64.Triangular{}, &linalg.NotPSDError{Order: a.Rows}
	}
	return linalg.LowerTriangle(a), nil
}

// draw overwrites t with a draw.
func (g *gaussian) draw(t []float64, rng *rand.Rand) {
	if g.weights { // L⁻ᵀ(L⁻¹Φᵀκ + z)
		copy(t, g.start)
		blas64.Trsv(blas.NoTrans, g.l, dense.Vector(t))
		addNormals(rng, t)
		blas64.Trsv(blas.Trans, g.l, dense.Vector(t))
		return
	}
	// Matheron's rule: z − ΦᵀΩ^½B⁻¹(Ω^½Φz + ε) with z ~ N(Φᵀκ, I).
	copy(t, g.start)
	addNormals(rng, t)
	if len(g.half) == 0 || len(t) == 0 {
		return
	}
	v := make([]float64, len(g.half))
	blas64.Gemv(blas.NoTrans, 1, g.rows, dense.Vector(t), 0, dense.Vector(v))
	solveNoisy(g.l, v, g.half, rng)
	blas64.Gemv(blas.Trans, -1, g.rows, dense.Vector(v), 1, dense.Vector(t))
}

// solveNoisy overwrites v with Ω^½B⁻¹(Ω^½v + ε).
func solveNoisy(l blas64.Triangular, v, half []float64, rng *rand.Rand) {
	for i, h := range half {
		v[i] = h*v[i] + rng.NormFloat64()
	}
	blas64.Trsv(blas.NoTrans, l, dense.Vector(v))
	blas64.Trsv(blas.Trans, l, dense.Vector(v))
	for i, h := range half {
		v[i] *= h
	}
}

func addNormals(rng *rand.Rand, v []float64) {
	for i := range v {
		v[i] += rng.NormFloat64()
	}
}
