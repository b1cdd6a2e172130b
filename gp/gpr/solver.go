package gpr

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A solver holds the inverse of K+σ²I of n examples in some form. Blocks of
// kernel values b are k×n: one row for each example concerned, with σ² added to
// the kernel of an example with itself. An error changes nothing, also that of a
// cancelled context.
type solver interface {
	// size returns n.
	size() int
	// add appends k examples; b is k×(n+k).
	add(ctx context.Context, b blas64.General) (update, error)
	// replace gives the examples at rows (ascending) new kernel values.
	replace(ctx context.Context, rows []int, b blas64.General) (update, error)
	// remove drops the examples at rows (ascending).
	remove(ctx context.Context, rows []int) (update, error)
	// solve replaces every row of b (k×n) by its product with the inverse.
	solve(ctx context.Context, b blas64.General) error
	// quad writes bᵢᵀ(K+σ²I)⁻¹bᵢ for the rows of b, which it may overwrite. Each
	// value is independent of the other rows.
	quad(dst []float64, b blas64.General)
	// diagonal returns the diagonal of the inverse (n).
	diagonal(ctx context.Context) ([]float64, error)
	// refit reports whether removing k costs more than a batch fit of the rest.
	refit(k int) bool
	// outgrown reports whether adding k costs more than a batch fit of all with
	// products by raw.
	outgrown(k int, raw linalg.Kernel) bool
	// state returns the arguments of loadSolver; a Woodbury inverse must be folded.
	state() (values []float64, order []int)
	clone() solver
	bytes() int
}

// An update describes how the inverse changed. Its size is the old one for
// remove and the new one otherwise; with zeros for examples that were absent,
//
//	new = old − minus·minusᵀ + plus·plusᵀ
type update struct {
	minus, plus blas64.General // n×k, or without rows
	logDet      float64        // change of log|K+σ²I|
}

// merge appends the columns of a step to those of the earlier steps.
func (u *update) merge(step update) {
	u.minus, u.plus = sideBySide(u.minus, step.minus), sideBySide(u.plus, step.plus)
	u.logDet += step.logDet
}

// sideBySide puts b to the right of a; a matrix without rows is left out.
func sideBySide(a, b blas64.General) blas64.General {
	if b.Rows == 0 || b.Cols == 0 {
		return a
	}
	if a.Rows == 0 {
		return dense.Clone(b)
	}
	at := a.Cols
	out := withColumns(a, b.Cols)
	for i := range b.Rows {
		copy(dense.Row(out, i)[at:], dense.Row(b, i))
	}
	return out
}

// smallFactor returns the Cholesky factor of a symmetric k×k matrix. Pivots are
// compared with the given diagonal; nil means that of the matrix.
func smallFactor(ctx context.Context, m blas64.General, diagonal []float64) (*triangle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // m may be unfinished
	}
	t := newTriangle(m.Rows)
	for i := range m.Rows {
		copy(t.row(i), dense.Row(m, i)[:i+1])
		if diagonal != nil && !(m.Data[i*m.Stride+i] > singular*diagonal[i]) {
			return nil, &NotPSDError{Order: m.Rows}
		}
	}
	return t, factor(ctx, t)
}

// newSolver factorises the matrix in t, which it retains, with products by raw.
func newSolver(ctx context.Context, method Method, t *triangle, raw linalg.Kernel) (solver, float64, error) {
	if err := factorOn(ctx, raw, t); err != nil {
		return nil, 0, err
	}
	logDet := t.logDet()
	if method != Cholesky {
		if err := invert(ctx, t); err != nil {
			return nil, 0, err
		}
	}
	return solverOf(method, t, dense.Range(0, t.n), raw), logDet, nil
}

// solverOf returns the solver of a factor, with the example of each row, or of an
// inverse.
func solverOf(m Method, t *triangle, order []int, raw linalg.Kernel) solver {
	if m == Cholesky {
		return &cholesky{l: t, order: order}
	}
	return &woodbury{a: t, raw: raw, iterative: m == Iterative}
}

// loadSolver is the inverse of solver.state.
func loadSolver(method Method, values []float64, order []int) (solver, error) {
	n := len(order)
	if len(values) != n*(n+1)/2 {
		return nil, fmt.Errorf("%d values do not fill a triangle of %d rows", len(values), n)
	}
	t := newTriangle(n)
	for i, at := 0, 0; i < n; i++ {
		copy(t.row(i), values[at:at+i+1])
		if at += i + 1; !(values[at-1] > 0) {
			return nil, fmt.Errorf("diagonal value %g", values[at-1])
		}
	}
	seen := make([]bool, n)
	for _, i := range order {
		if i < 0 || i >= n || seen[i] {
			return nil, fmt.Errorf("the order of the examples is no permutation")
		}
		seen[i] = true
	}
	return solverOf(method, t, order, linalg.Gonum{}), nil
}

// packed returns the rows of a triangle one after the other.
func (t *triangle) packed() []float64 {
	out := make([]float64, 0, t.n*(t.n+1)/2)
	for i := range t.n {
		out = append(out, t.row(i)...)
	}
	return out
}
