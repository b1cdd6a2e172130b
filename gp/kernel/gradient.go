package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Gradient is the gradient of a loss L with respect to the inputs and
// hyper-parameters of a kernel matrix.
type Gradient struct {
	// X is ∂L/∂x (n×d), Z is ∂L/∂z (m×d), with respect to the inputs before any
	// scaling.
	X, Z blas64.General
	// Lengthscale and Outputscale are ∂L/∂ℓ and ∂L/∂s.
	Lengthscale, Outputscale float64
}

// Gradient returns the gradient implied by g = ∂L/∂K (n×m) with K = Values(p).
// For a self pair g must be symmetric; the whole gradient is then in X, and Z is
// empty.
func (k Kernel) Gradient(p Pair, values, g blas64.General) (Gradient, error) {
	for _, m := range []blas64.General{values, g} {
		if err := dense.Valid(m); err != nil {
			return Gradient{}, fmt.Errorf("kernel: gradient: %w", err)
		}
		if m.Rows != p.products.Rows || m.Cols != p.products.Cols {
			return Gradient{}, fmt.Errorf("kernel: gradient: %d×%d for %d and %d inputs",
				m.Rows, m.Cols, p.x.Len(), p.z.Len())
		}
	}
	w, across, down, out := k.weights(p, values, g)
	var err error
	out.X, err = p.pull(w, across, p.x, p.z)
	if err != nil || p.same {
		for i := range out.X.Data {
			out.X.Data[i] *= 2 // from its row and from its column
		}
		return out, err
	}
	out.Z, err = p.pull(dense.Transposed(w), down, p.z, p.x)
	return out, err
}

// weights returns w with ∂L/∂x̂ᵢ = Σⱼ wᵢⱼ(ẑⱼ − x̂ᵢ), or Σⱼ wᵢⱼẑⱼ for a linear
// kernel, its sums by row and by column (0 for a linear kernel), and the
// gradients of the hyper-parameters.
func (k Kernel) weights(p Pair, values, g blas64.General) (w blas64.General, across, down []float64, out Gradient) {
	w = dense.New(g.Rows, g.Cols)
	across, down = make([]float64, g.Rows), make([]float64, g.Cols)
	sums, slopes := make([]float64, g.Rows), make([]float64, g.Rows)
	dense.Parallel(g.Rows, func(i int) {
		r, xz, value := dense.Row(w, i), dense.Row(p.products, i), dense.Row(values, i)
		var all, sum, slope float64 // not in the slices, whose cache lines goroutines share
		for j, gij := range dense.Row(g, i) {
			r[j] = gij * k.weigh(value[j], xz[j], p.x.sq[i], p.z.sq[j])
			sum += gij * value[j]
			all += r[j]
			slope += r[j] * k.distance(xz[j], p.x.sq[i], p.z.sq[j])
		}
		if sums[i] = sum; k.Kind != Linear {
			across[i], slopes[i] = all, slope
		}
	})
	var sum, slope float64
	for i := range sums {
		sum, slope = sum+sums[i], slope+slopes[i]
		if k.Kind != Linear {
			for j, v := range dense.Row(w, i) {
				down[j] += v
			}
		}
	}
	out.Outputscale = sum / k.Outputscale
	if out.Lengthscale = slope * k.Lengthscale; k.Kind == Linear {
		out.Lengthscale = -2 * sum / k.Lengthscale
	}
	return w, across, down, out
}

// weigh returns the factor of ẑ − x̂ (of ẑ for a linear kernel) in the derivative
// of the kernel of two inputs with respect to x̂.
func (k Kernel) weigh(value, xz, xx, zz float64) float64 {
	switch k.Kind {
	case Linear:
		return k.weight()
	case RBF:
		return value / (k.Lengthscale * k.Lengthscale)
	}
	_, slope := k.stationary(k.distance(xz, xx, zz))
	return -2 * slope / (k.Lengthscale * k.Lengthscale)
}

// pull returns w·ẑ − across∘x̂, propagated back through the scaling to length 1.
func (p Pair) pull(w blas64.General, across []float64, x, z Points) (blas64.General, error) {
	out := dense.New(x.Len(), x.X.Cols)
	if x.Len() > 0 && z.Len() > 0 {
		if err := linalg.Plain64(p.backend.Raw(), out, w, z.X); err != nil {
			return out, fmt.Errorf("kernel: gradient: %w", err)
		}
	}
	for i, s := range across {
		blas64.Axpy(-s, dense.Vector(dense.Row(x.X, i)), dense.Vector(dense.Row(out, i)))
	}
	x.throughLength(out)
	return out, nil
}

// DiagonalGradient returns the gradient implied by g = ∂L/∂diag (n) for the
// diagonal written by Diagonal; Z is empty.
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
				to[j] = 2 * gi * k.weight() * v
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

// throughLength turns ∂L/∂x̂ into ∂L/∂x: it removes the component along x̂ and
// divides the rest by the length. At a zero vector, where x̂ is discontinuous, the
// gradient is taken as zero.
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
