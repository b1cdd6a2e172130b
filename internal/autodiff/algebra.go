package autodiff

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// Mul is a·b.
func (t *Tape) Mul(a, b *Var) *Var {
	return t.Op(t.Product(a.Value, blas.NoTrans, b.Value, blas.NoTrans), func(g blas64.General) {
		if a.needs {
			t.AddProduct(a.Grad(), 1, g, blas.NoTrans, b.Value, blas.Trans)
		}
		if b.needs {
			t.AddProduct(b.Grad(), 1, a.Value, blas.Trans, g, blas.NoTrans)
		}
	}, a, b)
}

// Transpose is aᵀ.
func (t *Tape) Transpose(a *Var) *Var {
	return t.Op(dense.Transposed(a.Value), func(g blas64.General) { addTo(a.Grad(), 1, dense.Transposed(g)) }, a)
}

// Cholesky is the lower triangular L of a + jitter·I = L·Lᵀ, a being symmetric,
// or a *linalg.NotPSDError.
func (t *Tape) Cholesky(a *Var, jitter float64) (*Var, error) {
	l := dense.Clone(a.Value)
	for i := range l.Rows {
		l.Data[i*l.Stride+i] += jitter
	}
	if !linalg.Factorize(t.raw(), l) {
		return nil, &linalg.NotPSDError{Order: l.Rows, Jitter: jitter}
	}
	for i := range l.Rows {
		clear(Row(l, i)[i+1:])
	}
	var v *Var
	v = t.Op(l, func(g blas64.General) { t.choleskyBack(a.Grad(), v, g) }, a)
	return v, nil
}

// choleskyBack adds sym(L⁻ᵀ·Φ(Lᵀ·L̄)·L⁻¹) to dst.
func (t *Tape) choleskyBack(dst blas64.General, l *Var, g blas64.General) {
	p := t.Product(l.Value, blas.Trans, g, blas.NoTrans)
	for i := range p.Rows {
		r := Row(p, i)
		r[i] /= 2
		clear(r[i+1:])
	}
	p = dense.Transposed(t.solved(l, blas.Trans, p))
	p = t.solved(l, blas.Trans, p) // the transpose of L⁻ᵀ·Φ·L⁻¹, of which sym is the same
	for i := range p.Rows {
		to := Row(dst, i)
		for j := range to {
			to[j] += (p.Data[i*p.Stride+j] + p.Data[j*p.Stride+i]) / 2
		}
	}
}

func triangle(l blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride, Data: l.Data}
}

// Solve is l⁻¹·b for a lower triangular l.
func (t *Tape) Solve(l, b *Var) *Var { return t.solve(l, b, blas.NoTrans, blas.Trans) }

// SolveTrans is l⁻ᵀ·b.
func (t *Tape) SolveTrans(l, b *Var) *Var { return t.solve(l, b, blas.Trans, blas.NoTrans) }

func (t *Tape) solve(l, b *Var, forth, back blas.Transpose) *Var {
	y := t.solved(l, forth, b.Value)
	return t.Op(y, func(g blas64.General) {
		adjoint := t.solved(l, back, g)
		if b.needs {
			addTo(b.Grad(), 1, adjoint)
		}
		if !l.needs {
			return
		}
		if forth == blas.NoTrans {
			t.addLower(l.Grad(), adjoint, y)
		} else {
			t.addLower(l.Grad(), y, adjoint)
		}
	}, l, b)
}

// addLower takes the lower triangle of a·bᵀ off dst.
func (t *Tape) addLower(dst, a, b blas64.General) {
	p := t.Product(a, blas.NoTrans, b, blas.Trans)
	for i := range p.Rows {
		to := Row(dst, i)[:i+1]
		for j, v := range Row(p, i)[:i+1] {
			to[j] -= v
		}
	}
}

// BlockDiagonal keeps the square blocks of those sizes on the diagonal of a and
// clears the rest.
func (t *Tape) BlockDiagonal(a *Var, sizes []int) *Var {
	keep := func(dst, src blas64.General) {
		at := 0
		for _, n := range sizes {
			addTo(View(dst, at, at, n, n), 1, View(src, at, at, n, n))
			at += n
		}
	}
	out := dense.New(a.Value.Rows, a.Value.Cols)
	keep(out, a.Value)
	return t.Op(out, func(g blas64.General) { keep(a.Grad(), g) }, a)
}

// Block is rows × cols of a from (i, j) on.
func (t *Tape) Block(a *Var, i, j, rows, cols int) *Var {
	return t.Op(dense.Clone(View(a.Value, i, j, rows, cols)), func(g blas64.General) {
		addTo(View(a.Grad(), i, j, rows, cols), 1, g)
	}, a)
}

// Stack puts matrices below each other.
func (t *Tape) Stack(parts ...*Var) *Var {
	rows := 0
	for _, p := range parts {
		rows += p.Value.Rows
	}
	out := dense.New(rows, parts[0].Value.Cols)
	at := 0
	for _, p := range parts {
		addTo(View(out, at, 0, p.Value.Rows, out.Cols), 1, p.Value)
		at += p.Value.Rows
	}
	return t.Op(out, func(g blas64.General) {
		at := 0
		for _, p := range parts {
			if p.needs {
				addTo(p.Grad(), 1, View(g, at, 0, p.Value.Rows, g.Cols))
			}
			at += p.Value.Rows
		}
	}, parts...)
}

// Add is a + factor·b.
func (t *Tape) Add(a *Var, factor float64, b *Var) *Var {
	c := dense.Clone(a.Value)
	addTo(c, factor, b.Value)
	return t.Op(c, func(g blas64.General) {
		if a.needs {
			addTo(a.Grad(), 1, g)
		}
		if b.needs {
			addTo(b.Grad(), factor, g)
		}
	}, a, b)
}

// Scale is factor·a.
func (t *Tape) Scale(factor float64, a *Var) *Var {
	c := dense.New(a.Value.Rows, a.Value.Cols)
	addTo(c, factor, a.Value)
	return t.Op(c, func(g blas64.General) { addTo(a.Grad(), factor, g) }, a)
}

// Number is a 1×1 constant.
func Number(v float64) *Var {
	return Constant(blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{v}})
}

// Sum is the sum of all elements, 1×1.
func (t *Tape) Sum(a *Var) *Var {
	s := 0.0
	for i := range a.Value.Rows {
		for _, v := range Row(a.Value, i) {
			s += v
		}
	}
	return t.Op(Number(s).Value, func(g blas64.General) {
		for i := range a.Value.Rows {
			to := Row(a.Grad(), i)
			for j := range to {
				to[j] += g.Data[0]
			}
		}
	}, a)
}

// SumSquares is ‖a‖², 1×1.
func (t *Tape) SumSquares(a *Var) *Var {
	s := 0.0
	for i := range a.Value.Rows {
		for _, v := range Row(a.Value, i) {
			s += v * v
		}
	}
	return t.Op(Number(s).Value, func(g blas64.General) { addTo(a.Grad(), 2*g.Data[0], a.Value) }, a)
}

// ColumnSquares is the sum of the squares of each column, 1×n.
func (t *Tape) ColumnSquares(a *Var) *Var {
	out := dense.New(1, a.Value.Cols)
	for i := range a.Value.Rows {
		for j, v := range Row(a.Value, i) {
			out.Data[j] += v * v
		}
	}
	return t.Op(out, func(g blas64.General) {
		for i := range a.Value.Rows {
			to := Row(a.Grad(), i)
			for j, v := range Row(a.Value, i) {
				to[j] += 2 * v * g.Data[j]
			}
		}
	}, a)
}

// LogDiagonal is the sum of the logarithms of the diagonal of a from first to
// before last, 1×1.
func (t *Tape) LogDiagonal(a *Var, first, last int) *Var {
	s := 0.0
	for i := first; i < last; i++ {
		s += math.Log(a.Value.Data[i*a.Value.Stride+i])
	}
	return t.Op(Number(s).Value, func(g blas64.General) {
		to := a.Grad()
		for i := first; i < last; i++ {
			to.Data[i*to.Stride+i] += g.Data[0] / a.Value.Data[i*a.Value.Stride+i]
		}
	}, a)
}
