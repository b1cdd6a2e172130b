package autodiff

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Mul returns a·b.
func (graph *Graph) Mul(a, b *Var) *Var {
	return graph.Op(graph.Product(a.Value, blas.NoTrans, b.Value, blas.NoTrans), func(g blas64.General) {
		if a.needs {
			graph.AddProduct(a.Grad(), 1, g, blas.NoTrans, b.Value, blas.Trans)
		}
		if b.needs {
			graph.AddProduct(b.Grad(), 1, a.Value, blas.Trans, g, blas.NoTrans)
		}
	}, a, b)
}

// Transpose returns aᵀ.
func (graph *Graph) Transpose(a *Var) *Var {
	return graph.Op(dense.Transposed(a.Value), func(g blas64.General) { dense.Add(a.Grad(), 1, dense.Transposed(g)) },
		a)
}

// Cholesky returns the lower triangular L with a + jitter·I = L·Lᵀ for a symmetric
// a, or a *linalg.NotPSDError.
func (graph *Graph) Cholesky(a *Var, jitter float64) (*Var, error) {
	l, err := linalg.Cholesky(graph.raw(), a.Value, jitter)
	if err != nil {
		return nil, err
	}
	var v *Var
	v = graph.Op(l, func(g blas64.General) { graph.choleskyBack(a.Grad(), v, g) }, a)
	return v, nil
}

// choleskyBack adds sym(L⁻ᵀ·Φ(Lᵀ·L̄)·L⁻¹) to dst.
func (graph *Graph) choleskyBack(dst blas64.General, l *Var, g blas64.General) {
	p := graph.Product(l.Value, blas.Trans, g, blas.NoTrans)
	for i := range p.Rows {
		r := dense.Row(p, i)
		r[i] /= 2
		clear(r[i+1:])
	}
	p = dense.Transposed(graph.solved(l, blas.Trans, p))
	p = graph.solved(l, blas.Trans, p) // the transpose of L⁻ᵀ·Φ·L⁻¹, which has the same sym
	for i := range p.Rows {
		to := dense.Row(dst, i)
		for j := range to {
			to[j] += (p.Data[i*p.Stride+j] + p.Data[j*p.Stride+i]) / 2
		}
	}
}

// Solve returns l⁻¹·b for a lower triangular l.
func (graph *Graph) Solve(l, b *Var) *Var { return graph.solve(l, b, blas.NoTrans, blas.Trans) }

// SolveTrans returns l⁻ᵀ·b for a lower triangular l.
func (graph *Graph) SolveTrans(l, b *Var) *Var { return graph.solve(l, b, blas.Trans, blas.NoTrans) }

func (graph *Graph) solve(l, b *Var, forth, back blas.Transpose) *Var {
	y := graph.solved(l, forth, b.Value)
	return graph.Op(y, func(g blas64.General) {
		adjoint := graph.solved(l, back, g)
		if b.needs {
			dense.Add(b.Grad(), 1, adjoint)
		}
		if !l.needs {
			return
		}
		if forth == blas.NoTrans {
			graph.addLower(l.Grad(), adjoint, y)
		} else {
			graph.addLower(l.Grad(), y, adjoint)
		}
	}, l, b)
}

// addLower subtracts the lower triangle of a·bᵀ from dst.
func (graph *Graph) addLower(dst, a, b blas64.General) {
	p := graph.Product(a, blas.NoTrans, b, blas.Trans)
	for i := range p.Rows {
		to := dense.Row(dst, i)[:i+1]
		for j, v := range dense.Row(p, i)[:i+1] {
			to[j] -= v
		}
	}
}

// BlockDiagonal returns a with everything zero except square blocks of the given
// sizes on the diagonal.
func (graph *Graph) BlockDiagonal(a *Var, sizes []int) *Var {
	keep := func(dst, src blas64.General) {
		at := 0
		for _, n := range sizes {
			dense.Add(dense.View(dst, at, at, n, n), 1, dense.View(src, at, at, n, n))
			at += n
		}
	}
	out := dense.New(a.Value.Rows, a.Value.Cols)
	keep(out, a.Value)
	return graph.Op(out, func(g blas64.General) { keep(a.Grad(), g) }, a)
}

// Block returns the rows×cols block of a that starts at (i, j).
func (graph *Graph) Block(a *Var, i, j, rows, cols int) *Var {
	return graph.Op(dense.Clone(dense.View(a.Value, i, j, rows, cols)), func(g blas64.General) {
		dense.Add(dense.View(a.Grad(), i, j, rows, cols), 1, g)
	}, a)
}

// Stack returns the matrices stacked on top of each other.
func (graph *Graph) Stack(parts ...*Var) *Var {
	rows := 0
	for _, p := range parts {
		rows += p.Value.Rows
	}
	out := dense.New(rows, parts[0].Value.Cols)
	at := 0
	for _, p := range parts {
		dense.Add(dense.View(out, at, 0, p.Value.Rows, out.Cols), 1, p.Value)
		at += p.Value.Rows
	}
	return graph.Op(out, func(g blas64.General) {
		at := 0
		for _, p := range parts {
			if p.needs {
				dense.Add(p.Grad(), 1, dense.View(g, at, 0, p.Value.Rows, g.Cols))
			}
			at += p.Value.Rows
		}
	}, parts...)
}

// Add returns a + factor·b.
func (graph *Graph) Add(a *Var, factor float64, b *Var) *Var {
	c := dense.Clone(a.Value)
	dense.Add(c, factor, b.Value)
	return graph.Op(c, func(g blas64.General) {
		if a.needs {
			dense.Add(a.Grad(), 1, g)
		}
		if b.needs {
			dense.Add(b.Grad(), factor, g)
		}
	}, a, b)
}

// Scale returns factor·a.
func (graph *Graph) Scale(factor float64, a *Var) *Var {
	c := dense.New(a.Value.Rows, a.Value.Cols)
	dense.Add(c, factor, a.Value)
	return graph.Op(c, func(g blas64.General) { dense.Add(a.Grad(), factor, g) }, a)
}

// Number returns a 1×1 constant.
func Number(v float64) *Var {
	return Constant(blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{v}})
}

// Sum returns the sum of all elements, 1×1.
func (graph *Graph) Sum(a *Var) *Var {
	s := 0.0
	for i := range a.Value.Rows {
		for _, v := range dense.Row(a.Value, i) {
			s += v
		}
	}
	return graph.Op(Number(s).Value, func(g blas64.General) {
		for i := range a.Value.Rows {
			to := dense.Row(a.Grad(), i)
			for j := range to {
				to[j] += g.Data[0]
			}
		}
	}, a)
}

// SumSquares returns ‖a‖², 1×1.
func (graph *Graph) SumSquares(a *Var) *Var {
	s := 0.0
	for i := range a.Value.Rows {
		for _, v := range dense.Row(a.Value, i) {
			s += v * v
		}
	}
	return graph.Op(Number(s).Value, func(g blas64.General) { dense.Add(a.Grad(), 2*g.Data[0], a.Value) }, a)
}

// LogDiagonal returns the sum of the logarithms of diagonal elements first …
// last−1 of a, 1×1.
func (graph *Graph) LogDiagonal(a *Var, first, last int) *Var {
	s := 0.0
	for i := first; i < last; i++ {
		s += math.Log(a.Value.Data[i*a.Value.Stride+i])
	}
	return graph.Op(Number(s).Value, func(g blas64.General) {
		to := a.Grad()
		for i := first; i < last; i++ {
			to.Data[i*to.Stride+i] += g.Data[0] / a.Value.Data[i*a.Value.Stride+i]
		}
	}, a)
}
