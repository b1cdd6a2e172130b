package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// A Gradient is what a loss L owes to the inputs and hyper-parameters of a
// kernel matrix.
type Gradient struct {
	// X is ∂L/∂x (n×d), Z is ∂L/∂z (m×d), with respect to the inputs as they
	// were given, before any scaling.
	X, Z blas64.General
	// Lengthscale and Outputscale are ∂L/∂ℓ and ∂L/∂s.
	Lengthscale, Outputscale float64
}

// CrossGradient returns the gradient that g = ∂L/∂K (n×m) implies where K is
// Cross(x, z). For K = Gram(x) it is CrossGradient(g, x, x) with X and Z
// added up.
func (k Kernel) CrossGradient(g blas64.General, x, z Points) (Gradient, error) {
	if err := dense.Valid(g); err != nil {
		return Gradient{}, fmt.Errorf("kernel: gradient: %w", err)
	}
	if g.Rows != x.Len() || g.Cols != z.Len() {
		return Gradient{}, fmt.Errorf("kernel: gradient: %d×%d for %d and %d inputs", g.Rows, g.Cols, x.Len(), z.Len())
	}
	w := dense.New(g.Rows, g.Cols)
	if err := linalg.MulTrans64(w, x.X, z.X); err != nil {
		return Gradient{}, fmt.Errorf("kernel: gradient: %w", err)
	}
	var out Gradient
	if k.Kind == Linear {
		out = k.linearGradient(w, g, x, z)
	} else {
		out = k.stationaryGradient(w, g, x, z)
	}
	x.throughLength(out.X)
	z.throughLength(out.Z)
	return out, nil
}

// linearGradient overwrites w = x̂·ẑᵀ with g·s/ℓ².
func (k Kernel) linearGradient(w, g blas64.General, x, z Points) Gradient {
	var sum float64 // Σ g∘K
	for i := range w.Rows {
		r := dense.Row(w, i)
		for j, gij := range dense.Row(g, i) {
			sum += gij * k.Weight() * r[j]
			r[j] = gij * k.Weight()
		}
	}
	out := products(w, x, z)
	out.Lengthscale, out.Outputscale = -2*sum/k.Lengthscale, sum/k.Outputscale
	return out
}

// stationaryGradient overwrites w = x̂·ẑᵀ with −2·g·∂K/∂‖x̂−ẑ‖², so that
// ∂L/∂x̂ᵢ = Σⱼ wᵢⱼ(ẑⱼ − x̂ᵢ).
func (k Kernel) stationaryGradient(w, g blas64.General, x, z Points) Gradient {
	l2 := k.Lengthscale * k.Lengthscale
	var sum, slopes float64 // Σ g∘K, Σ g∘∂K/∂r²∘r²
	across, down := make([]float64, w.Rows), make([]float64, w.Cols)
	for i := range w.Rows {
		r := dense.Row(w, i)
		for j, gij := range dense.Row(g, i) {
			r2 := k.distance(r[j], x.sq[i], z.sq[j])
			value, slope := k.stationary(r2)
			sum += gij * value
			slopes += gij * slope * r2
			r[j] = -2 * gij * slope / l2
			across[i] += r[j]
			down[j] += r[j]
		}
	}
	out := products(w, x, z)
	subtractScaled(out.X, across, x.X)
	subtractScaled(out.Z, down, z.X)
	out.Lengthscale, out.Outputscale = -2*slopes/k.Lengthscale, sum/k.Outputscale
	return out
}

// products returns w·ẑ and wᵀ·x̂.
func products(w blas64.General, x, z Points) Gradient {
	out := Gradient{X: dense.New(x.Len(), x.X.Cols), Z: dense.New(z.Len(), z.X.Cols)}
	if w.Rows > 0 && w.Cols > 0 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w, z.X, 0, out.X)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, w, x.X, 0, out.Z)
	}
	return out
}

// subtractScaled takes scale[i] times row i of x from row i of dst.
func subtractScaled(dst blas64.General, scale []float64, x blas64.General) {
	for i, s := range scale {
		to := dense.Row(dst, i)
		for j, v := range dense.Row(x, i) {
			to[j] -= s * v
		}
	}
}

// DiagonalGradient returns the gradient that g = ∂L/∂diag (n) implies where
// the diagonal is Diagonal(x); Z stays empty.
func (k Kernel) DiagonalGradient(g []float64, x Points) (Gradient, error) {
	if len(g) != x.Len() {
		return Gradient{}, fmt.Errorf("kernel: gradient: %d values for %d inputs", len(g), x.Len())
	}
	out := Gradient{X: dense.New(x.Len(), x.X.Cols)}
	var sum float64
	for i, gi := range g {
		sum += gi * k.value(x.sq[i], x.sq[i], x.sq[i])
		if k.Kind == Linear {
			to := dense.Row(out.X, i)
			for j, v := range dense.Row(x.X, i) {
				to[j] = 2 * gi * k.Weight() * v
			}
		}
	}
	if k.Kind == Linear {
		out.Lengthscale = -2 * sum / k.Lengthscale
	}
	out.Outputscale = sum / k.Outputscale
	x.throughLength(out.X)
	return out, nil
}

// throughLength turns ∂L/∂x̂ into ∂L/∂x: what points along x̂ is lost, the rest
// is divided by the length. The gradient at a zero vector, where x̂ jumps, is
// taken as zero.
func (p Points) throughLength(g blas64.General) {
	for i, length := range p.length {
		r, u := dense.Row(g, i), dense.Row(p.X, i)
		if length == 0 {
			clear(r)
			continue
		}
		along := dense.Dot(r, u)
		for j := range r {
			r[j] = (r[j] - along*u[j]) / length
		}
	}
}
