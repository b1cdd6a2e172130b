package gpr

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Snapshot holds what a regression has computed from its examples, to be saved
// together with them.
type Snapshot struct {
	// Factor holds the rows of the triangle, n(n+1)/2 values; Order holds the
	// example of each row.
	Factor []float64
	Order  []int
	// Alpha is C×n, Diagonal n.
	Alpha    blas64.General
	Diagonal []float64
	// LogDet is log|K+σ²I|; Changes is the number of changes so far.
	LogDet  float64
	Changes int
}

// Snapshot folds Woodbury corrections (see Fold) and copies the state. It must
// not run concurrently with other methods.
func (r *Regression) Snapshot() Snapshot {
	_ = r.invertDiagonal(context.Background()) // only a cancelled context makes it fail
	s := r.solver
	w, ok := s.(*woodbury)
	if ok && len(w.pending) > 0 {
		w = w.clone().(*woodbury)
		w.fold()
		s = w
	}
	factor, order := s.state()
	return Snapshot{factor, order, dense.Clone(r.alpha), slices.Clone(r.diag), r.logDet, r.changes}
}

// restoreDrift is the largest drift accepted in a restored state. Unless σ² is
// tiny, valid states are within 1e−9.
const restoreDrift = 1e-5

// Restore returns the regression of a snapshot with its examples: inputs x
// (n×d) with targets t (n×C). It retains its arguments. A snapshot that does not
// match the examples, or does not solve the equations for eight of them, is an
// error. It takes O(n² + n(d+C)).
func Restore(kernel Kernel, cfg Config, x, t blas64.General, s Snapshot) (*Regression, error) {
	r, err := restore(kernel, cfg, x, t, s)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return r, nil
}

func restore(kernel Kernel, cfg Config, x, t blas64.General, s Snapshot) (*Regression, error) {
	r, err := New(kernel, cfg)
	if err != nil {
		return nil, err
	}
	if err := r.checkExamples(x, t); err != nil {
		return nil, err
	}
	n := x.Rows
	if n == 0 || len(s.Order) != n || len(s.Diagonal) != n || s.Alpha.Rows != t.Cols || s.Alpha.Cols != n ||
		s.Changes < 0 {
		return nil, fmt.Errorf("%d examples and %d outputs with a factor of %d, a diagonal of %d and weights of %d×%d",
			n, t.Cols, len(s.Order), len(s.Diagonal), s.Alpha.Rows, s.Alpha.Cols)
	}
	for _, d := range s.Diagonal {
		if !(d > 0) {
			return nil, fmt.Errorf("diagonal value %g of the inverse", d)
		}
	}
	if err := checkMatrix(s.Alpha); err != nil {
		return nil, err
	}
	if r.solver, err = loadSolver(cfg.Method, s.Factor, s.Order); err != nil {
		return nil, err
	}
	r.x, r.t, r.alpha, r.diag, r.logDet, r.changes = measured(clipped(x)), dense.Transposed(t), s.Alpha, s.Diagonal,
		s.LogDet, s.Changes
	some := make([]int, min(n, 2*lookAt))
	for i := range some {
		some[i] = i * n / len(some)
	}
	drift, err := r.drift(context.Background(), some)
	if err == nil && !(drift <= restoreDrift) {
		err = fmt.Errorf("the factor does not belong to the examples: off by %g", drift)
	}
	return r, err
}
