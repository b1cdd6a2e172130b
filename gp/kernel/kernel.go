package kernel

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Kind names a covariance function.
type Kind string

// The kinds.
const (
	RBF      Kind = "rbf"
	Matern52 Kind = "matern52"
	Linear   Kind = "linear"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{RBF, Matern52, Linear} }

// Bounds of ℓ and s; values outside give meaningless numbers.
const (
	least = 1e-6
	most  = 1e6
)

// A Kernel is a covariance function. It is a plain value, safe for concurrent
// use.
type Kernel struct {
	Kind Kind `json:"kind" mapstructure:"kind"`
	// Normalize scales every input to length 1 before the kernel is applied.
	Normalize bool `json:"normalize" mapstructure:"normalize"`
	// Lengthscale is ℓ, in the units of the inputs.
	Lengthscale float64 `json:"lengthscale" mapstructure:"lengthscale"`
	// Outputscale is s, the variance of a normalised or stationary process.
	Outputscale float64 `json:"outputscale" mapstructure:"outputscale"`
}

// Validate names the field that is out of range.
func (k Kernel) Validate() error {
	return cmp.Or(
		setting.OneOf("kind", k.Kind, Kinds()...),
		setting.Float("lengthscale", k.Lengthscale, least, most),
		setting.Float("outputscale", k.Outputscale, least, most),
	)
}

// Points are inputs prepared for a kernel, to be used in many matrices. They are
// immutable and safe for concurrent use.
type Points struct {
	// X holds x̂ (n×d).
	X blas64.General
	// sq holds ‖x̂‖².
	sq []float64
	// length is ‖x‖ before scaling; nil for raw inputs.
	length []float64
}

// Len returns n.
func (p Points) Len() int { return p.X.Rows }

// Points prepares the rows of x (n×d) for the kernel. It copies x.
func (k Kernel) Points(x blas64.General) (Points, error) {
	if err := dense.Valid(x); err != nil {
		return Points{}, fmt.Errorf("kernel: inputs: %w", err)
	}
	if x.Cols == 0 {
		return Points{}, fmt.Errorf("kernel: inputs have no columns")
	}
	p := Points{X: dense.New(x.Rows, x.Cols), sq: make([]float64, x.Rows)}
	if k.Normalize {
		p.length = make([]float64, x.Rows)
	}
	for i := range x.Rows {
		dst := dense.Row(p.X, i)
		copy(dst, dense.Row(x, i))
		if k.Normalize {
			p.length[i] = unit(dst)
		}
		p.sq[i] = dense.Dot(dst, dst)
	}
	return p, nil
}

// unit scales v to length 1 and returns its previous length. If squares could
// overflow or underflow, it first divides v by its largest value.
func unit(v []float64) float64 {
	length, before := math.Sqrt(dense.Dot(v, v)), 1.0
	if !(length > 1e-100 && length < 1e100) {
		largest := floats.Norm(v, math.Inf(1))
		if largest == 0 {
			return 0
		}
		for j := range v {
			v[j] /= largest
		}
		length, before = math.Sqrt(dense.Dot(v, v)), largest
	}
	floats.Scale(1/length, v)
	return before * length
}

// Pick returns the given rows of the points, in that order.
func (p Points) Pick(rows []int) Points {
	out := Points{X: dense.Gather(p.X, rows), sq: make([]float64, len(rows))}
	if p.length != nil {
		out.length = make([]float64, len(rows))
	}
	for i, r := range rows {
		out.sq[i] = p.sq[r]
		if p.length != nil {
			out.length[i] = p.length[r]
		}
	}
	return out
}

// Cross writes k(xᵢ, zⱼ) into dst, which has to be n×m.
func (k Kernel) Cross(dst blas64.General, x, z Points) {
	linalg.MulTrans64(dst, x.X, z.X)
	dense.Parallel(dst.Rows, func(i int) {
		r := dense.Row(dst, i)
		for j, xz := range r {
			r[j] = k.value(xz, x.sq[i], z.sq[j])
		}
	})
}

// Gram returns k(xᵢ, xⱼ) (n×n), exactly symmetric.
func (k Kernel) Gram(x Points) blas64.General {
	g := linalg.Gram(x.X)
	diagonal := make([]float64, g.Rows)
	k.Diagonal(diagonal, x)
	dense.Parallel(g.Rows, func(i int) {
		r := dense.Row(g, i)
		for j, xz := range r {
			r[j] = k.value(xz, x.sq[i], x.sq[j])
		}
		r[i] = diagonal[i]
	})
	return g
}

// Diagonal writes k(xᵢ, xᵢ) into dst (n).
func (k Kernel) Diagonal(dst []float64, x Points) {
	for i := range dst {
		dst[i] = k.value(x.sq[i], x.sq[i], x.sq[i])
	}
}

// value returns the kernel of two inputs given x̂·ẑ, ‖x̂‖² and ‖ẑ‖².
func (k Kernel) value(xz, xx, zz float64) float64 {
	if k.Kind == Linear {
		return k.weight() * xz
	}
	v, _ := k.stationary(k.distance(xz, xx, zz))
	return v
}

// weight returns s/ℓ²: the prior variance of the weights of a linear kernel.
func (k Kernel) weight() float64 { return k.Outputscale / (k.Lengthscale * k.Lengthscale) }

// Features returns Φ = √(s/ℓ²)·x̂ (n×d) of a linear kernel, with K = ΦΦᵀ.
func (k Kernel) Features(x blas64.General) blas64.General {
	out := dense.Clone(x)
	blas64.Scal(math.Sqrt(k.weight()), dense.Vector(out.Data))
	return out
}

// distance returns r².
func (k Kernel) distance(xz, xx, zz float64) float64 {
	return max(xx+zz-2*xz, 0) / (k.Lengthscale * k.Lengthscale)
}

// stationary returns the value of a stationary kernel at r² and its derivative
// with respect to r².
func (k Kernel) stationary(r2 float64) (value, slope float64) {
	if k.Kind == RBF {
		v := k.Outputscale * math.Exp(-r2/2)
		return v, -v / 2
	}
	a := math.Sqrt(5 * r2)
	e := k.Outputscale * math.Exp(-a)
	if e == 0 { // a² may be infinite
		return 0, 0
	}
	return (1 + a + a*a/3) * e, -5.0 / 6 * (1 + a) * e
}
