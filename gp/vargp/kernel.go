package vargp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// variance returns γ² for θ.
func variance(theta []float64) float64 { return math.Exp(2 * theta[0]) }

// inverses returns the inverse length-scales.
func inverses(theta []float64) []float64 {
	out := make([]float64, len(theta)-1)
	for j := range out {
		out[j] = math.Exp(-theta[1+j])
	}
	return out
}

// placed holds inputs scaled by a θ, with their squared lengths.
type placed struct {
	scaled  blas64.General
	squares []float64
}

// placedAt divides the columns of x by the length-scales.
func placedAt(theta []float64, x blas64.General) placed {
	inverse := inverses(theta)
	out := dense.New(x.Rows, x.Cols)
	for i := range x.Rows {
		to := dense.Row(out, i)
		for j, v := range dense.Row(x, i) {
			to[j] = v * inverse[j]
		}
	}
	return placed{out, squares(out)}
}

// points are inputs in a graph, with their scaling by its θ.
type points struct {
	*autodiff.Var
	placed
}

func pointsAt(theta, x *autodiff.Var) points { return points{x, placedAt(theta.Value.Data, x.Value)} }

// rbf returns γ²·exp(−½‖a − b‖²), the kernel of scaled inputs.
func rbf(gamma2 float64) kernel.Kernel {
	return kernel.Kernel{Kind: kernel.RBF, Lengthscale: 1, Outputscale: gamma2}
}

// toKernel turns the inner products in k into the kernel.
func toKernel(k blas64.General, gamma2 float64, a, b placed) {
	for i, aa := range a.squares {
		r := dense.Row(k, i)
		rbf(gamma2).Row(r, r, aa, b.squares)
	}
}

func squares(x blas64.General) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		out[i] = dense.SumSquares(dense.Row(x, i))
	}
	return out
}

// cross returns k(z, x) in a graph: z is n×d, x is B×d.
func cross(gr *autodiff.Graph, theta *autodiff.Var, z, x points) *autodiff.Var {
	th := dense.Row(theta.Value, 0)
	zs, xs := z.scaled, x.scaled
	k := gr.Product(zs, blas.NoTrans, xs, blas.Trans)
	toKernel(k, variance(th), z.placed, x.placed)
	return gr.Op(k, func(g blas64.General) {
		e, rows, columns := weighted(g, k)
		ex := gr.Product(e, blas.NoTrans, xs, blas.NoTrans)
		to := dense.Row(theta.Grad(), 0)
		for i, w := range rows {
			to[0] += 2 * w
			for j, v := range dense.Row(zs, i) {
				to[1+j] += v * (w*v - 2*dense.Row(ex, i)[j])
			}
		}
		for i, w := range columns {
			for j, v := range dense.Row(xs, i) {
				to[1+j] += w * v * v
			}
		}
		if z.Needs() {
			pull(z.Grad(), th, ex, rows, zs)
		}
		if x.Needs() {
			pull(x.Grad(), th, gr.Product(e, blas.Trans, zs, blas.NoTrans), columns, xs)
		}
	}, theta, z.Var, x.Var)
}

// gram returns k(z, z) in a graph, exactly symmetric with γ² on its diagonal.
func gram(gr *autodiff.Graph, theta *autodiff.Var, z points) *autodiff.Var {
	th, zs := dense.Row(theta.Value, 0), z.scaled
	k := gramOf(gr, variance(th), z.placed)
	return gr.Op(k, func(g blas64.General) {
		e, _, _ := weighted(g, k)
		both := dense.New(e.Rows, e.Cols)
		rows := make([]float64, e.Rows)
		to := dense.Row(theta.Grad(), 0)
		for i := range e.Rows {
			for j := range e.Cols {
				v := dense.Row(e, i)[j] + dense.Row(e, j)[i]
				dense.Row(both, i)[j] = v
				rows[i] += v
			}
			to[0] += rows[i]
		}
		bz := gr.Product(both, blas.NoTrans, zs, blas.NoTrans)
		for i, w := range rows {
			for j, v := range dense.Row(zs, i) {
				to[1+j] += v * (w*v - dense.Row(bz, i)[j])
			}
		}
		if z.Needs() {
			pull(z.Grad(), th, bz, rows, zs)
		}
	}, theta, z.Var)
}

// gramOf returns the kernel of all pairs of inputs.
func gramOf(gr *autodiff.Graph, gamma2 float64, z placed) blas64.General {
	k := gr.Product(z.scaled, blas.NoTrans, z.scaled, blas.Trans)
	zz := z.squares
	for i := range k.Rows {
		r := dense.Row(k, i)
		rbf(gamma2).Row(r[:i], r, zz[i], zz)
		for j, v := range r[:i] {
			dense.Row(k, j)[i] = v
		}
		r[i] = gamma2
	}
	return k
}

// weighted returns g∘k with its sums over rows and over columns.
func weighted(g, k blas64.General) (e blas64.General, rows, columns []float64) {
	e, rows, columns = dense.New(k.Rows, k.Cols), make([]float64, k.Rows), make([]float64, k.Cols)
	for i := range k.Rows {
		to, from := dense.Row(e, i), dense.Row(g, i)
		for j, v := range dense.Row(k, i) {
			w := v * from[j]
			to[j] = w
			rows[i] += w
			columns[j] += w
		}
	}
	return e, rows, columns
}

// pull adds (E·x − r∘z)/σ, the derivative with respect to inputs.
func pull(dst blas64.General, theta []float64, ex blas64.General, rows []float64, zs blas64.General) {
	inverse := inverses(theta)
	for i, w := range rows {
		to, from := dense.Row(dst, i), dense.Row(ex, i)
		for j, v := range dense.Row(zs, i) {
			to[j] += (from[j] - w*v) * inverse[j]
		}
	}
}
