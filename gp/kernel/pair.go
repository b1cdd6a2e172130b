package kernel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// A Pair is two sets of inputs and their products: a kernel matrix and later
// its gradient take one large product each from it, with any backend.
type Pair struct {
	x, z     Points
	products blas64.General // x̂·ẑ
	same     bool           // x and z are one set
	backend  linalg.Backend
}

// NewPair multiplies x and z with a backend.
func NewPair(m linalg.Backend, x, z Points) (Pair, error) {
	p := Pair{x: x, z: z, products: dense.New(x.Len(), z.Len()), backend: m}
	if err := m.MulTrans64(p.products, x.X, z.X); err != nil {
		return p, fmt.Errorf("kernel: %w", err)
	}
	return p, nil
}

// NewSelfPair is NewPair of x and x, at half the cost.
func NewSelfPair(m linalg.Backend, x Points) (Pair, error) {
	g, err := linalg.Solver{Backend: m}.Gram(x.X)
	if err != nil {
		return Pair{}, fmt.Errorf("kernel: %w", err)
	}
	return Pair{x: x, z: x, products: g, same: true, backend: m}, nil
}

// Values returns the kernel matrix (n×m): Cross(x, z), or Gram(x) of a self
// pair.
func (k Kernel) Values(p Pair) blas64.General {
	out := dense.New(p.products.Rows, p.products.Cols)
	dense.Parallel(out.Rows, func(i int) {
		to := dense.Row(out, i)
		if p.same {
			to = to[:i]
		}
		k.values(to, dense.Row(p.products, i), p.x.sq[i], p.z.sq)
	})
	if p.same {
		for i := range out.Rows {
			dense.Row(out, i)[i] = k.value(p.x.sq[i], p.x.sq[i], p.x.sq[i])
			for j, v := range dense.Row(out, i)[:i] {
				dense.Row(out, j)[i] = v
			}
		}
	}
	return out
}

// values writes the kernel of one input, of squared length xx, and others into
// dst, from their products and squared lengths.
func (k Kernel) values(dst, xz []float64, xx float64, zz []float64) {
	if k.Kind != RBF {
		for j := range dst {
			dst[j] = k.value(xz[j], xx, zz[j])
		}
		return
	}
	scale := -1 / (2 * k.Lengthscale * k.Lengthscale)
	for j := range dst {
		dst[j] = k.Outputscale * math.Exp(scale*max(xx+zz[j]-2*xz[j], 0))
	}
}

// Gradient returns what g = ∂L/∂K (n×m) implies where K = Values(p). g of a
// self pair must be symmetric; its whole gradient is in X, and Z stays empty.
func (k Kernel) Gradient(p Pair, values, g blas64.General) (Gradient, error) {
	for _, m := range []blas64.General{values, g} {
		if err := dense.Valid(m); err != nil {
			return Gradient{}, fmt.Errorf("kernel: gradient: %w", err)
		}
		if m.Rows != p.products.Rows || m.Cols != p.products.Cols {
			return Gradient{}, fmt.Errorf("kernel: gradient: %d×%d for %d and %d inputs", m.Rows, m.Cols, p.x.Len(), p.z.Len())
		}
	}
	w, across, down, out := k.weights(p, values, g)
	var err error
	if out.X, err = p.pull(w, across, p.x, p.z); err != nil || p.same {
		for i := range out.X.Data {
			out.X.Data[i] *= 2 // of its row and of its column
		}
		return out, err
	}
	out.Z, err = p.pull(dense.Transposed(w), down, p.z, p.x)
	return out, err
}

// weights returns w with ∂L/∂x̂ᵢ = Σⱼ wᵢⱼ(ẑⱼ − x̂ᵢ), or Σⱼ wᵢⱼẑⱼ of a linear
// kernel, its sums by row and by column (0 of a linear kernel), and the
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

// weigh returns what multiplies ẑ − x̂, or ẑ of a linear kernel, in the
// derivative of the kernel of two inputs with respect to x̂.
func (k Kernel) weigh(value, xz, xx, zz float64) float64 {
	switch k.Kind {
	case Linear:
		return k.Weight()
	case RBF:
		return value / (k.Lengthscale * k.Lengthscale)
	}
	_, slope := k.stationary(k.distance(xz, xx, zz))
	return -2 * slope / (k.Lengthscale * k.Lengthscale)
}

// pull returns w·ẑ − across∘x̂, taken back through the scaling to length 1.
func (p Pair) pull(w blas64.General, across []float64, x, z Points) (blas64.General, error) {
	out := dense.New(x.Len(), x.X.Cols)
	if x.Len() > 0 && z.Len() > 0 {
		if err := linalg.Plain64(p.backend.Raw(), out, w, z.X); err != nil {
			return out, fmt.Errorf("kernel: gradient: %w", err)
		}
	}
	subtractScaled(out, across, x.X)
	x.throughLength(out)
	return out, nil
}
