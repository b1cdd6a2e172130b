package kernel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Pair holds two sets of inputs and their products, so that a kernel matrix and
// later its gradient take one large product each, on any backend.
type Pair struct {
	x, z     Points
	products blas64.General // x̂·ẑ
	same     bool           // x and z are one set
	backend  linalg.Backend
}

// NewPair computes the products of x and z on a backend.
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

// Values returns the kernel matrix (n×m): Cross(x, z), or Gram(x) for a self
// pair.
func (k Kernel) Values(p Pair) blas64.General {
	out := dense.New(p.products.Rows, p.products.Cols)
	dense.Parallel(out.Rows, func(i int) {
		to := dense.Row(out, i)
		if p.same {
			to = to[:i]
		}
		k.Row(to, dense.Row(p.products, i), p.x.sq[i], p.z.sq)
	})
	if p.same {
		for i := range out.Rows {
			dense.Row(out, i)[i] = k.value(p.x.sq[i], p.x.sq[i], p.x.sq[i])
		}
		mirror(out)
	}
	return out
}

// mirror copies the lower triangle of a (n×n) to the upper one, in blocks of columns
// that fit into the cache.
func mirror(a blas64.General) {
	const width = 64
	dense.Parallel((a.Cols+width-1)/width, func(t int) {
		last := min((t+1)*width, a.Cols)
		for i := range last {
			to := dense.Row(a, i)
			for j := max(t*width, i+1); j < last; j++ {
				to[j] = a.Data[j*a.Stride+i]
			}
		}
	})
}

// Row writes the kernel of one input, of squared length xx, with others into
// dst, given their products xz, which may be dst, and squared lengths zz.
func (k Kernel) Row(dst, xz []float64, xx float64, zz []float64) {
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
