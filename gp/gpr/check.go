package gpr

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// indices returns distinct positions below n in ascending order, or an
// *IndexError.
func indices(what string, given []int, n int) ([]int, error) {
	sorted := slices.Sorted(slices.Values(given))
	for i, v := range sorted {
		if v < 0 || v >= n || i > 0 && sorted[i-1] == v {
			return nil, &IndexError{What: what, Index: v, N: n}
		}
	}
	return sorted, nil
}

func (r *Regression) checkExamples(x, t blas64.General) error {
	for _, m := range []blas64.General{x, t} {
		if err := checkMatrix(m); err != nil {
			return err
		}
	}
	if x.Rows != t.Rows {
		return fmt.Errorf("%d inputs with %d targets", x.Rows, t.Rows)
	}
	if r.Len() > 0 && (x.Cols != r.Dim() || t.Cols != r.Outputs()) {
		return fmt.Errorf("inputs of %d values and %d outputs, want %d and %d", x.Cols, t.Cols, r.Dim(), r.Outputs())
	}
	if x.Rows > 0 && x.Cols == 0 {
		return fmt.Errorf("inputs without values")
	}
	return nil
}

// checkMatrix returns an error unless m is well formed and finite.
func checkMatrix(m blas64.General) error {
	if err := dense.Valid(m); err != nil {
		return err
	}
	if i := dense.NotFinite(m); i >= 0 {
		return fmt.Errorf("row %d holds a NaN or an infinity", i)
	}
	return nil
}

const (
	// lookEvery is the number of changes between checks for drift, each on
	// lookAt examples.
	lookEvery = 32
	lookAt    = 4
	// tolerance is the drift that is always accepted; a larger one is compared
	// with that of a fresh fit.
	tolerance = 1e-10
	slack     = 100
)

// A watch counts changes and remembers the drift of a fresh fit.
type watch struct {
	changes, refreshes int
	fresh              float64 // drift right after the last refresh
}

// look bounds the drift: every lookEvery changes it checks some examples and
// recomputes the state if they are off. If that fails, the present state stays.
func (r *Regression) look(ctx context.Context) {
	r.changes++
	if r.changes%lookEvery != 0 || r.Len() == 0 {
		return
	}
	rows := make([]int, min(lookAt, r.Len()))
	for i := range rows {
		rows[i] = (r.changes/lookEvery + i*r.Len()/len(rows)) % r.Len()
	}
	drift, err := r.drift(ctx, rows)
	if err != nil || drift <= max(tolerance, slack*r.fresh) || r.Refresh(ctx) != nil {
		return
	}
	if drift, err = r.drift(ctx, rows); err == nil {
		r.fresh = drift
	}
}

// Drift returns how far the state is from solving its equations: the largest
// element of |(K+σ²I)α − t| and |(K+σ²I)⁻¹(K+σ²I) − I|, with the kernel computed
// from the inputs: O(n²(d+C) + n³).
func (r *Regression) Drift(ctx context.Context) (float64, error) {
	var worst float64
	for first := 0; first < r.Len(); first += lookAt {
		d, err := r.drift(ctx, dense.Range(first, min(first+lookAt, r.Len())))
		if err != nil {
			return 0, fmt.Errorf("drift: %w", err)
		}
		worst = max(worst, d)
	}
	return worst, nil
}

// drift is Drift for some examples.
func (r *Regression) drift(ctx context.Context, examples []int) (float64, error) {
	b, err := r.kernelRows(ctx, r.x, examples)
	if err != nil {
		return 0, err
	}
	var worst float64
	residual := dense.New(len(examples), r.Outputs())
	subtract(residual, b, r.alpha)
	for i, e := range examples {
		for c, v := range dense.Row(residual, i) {
			worst = max(worst, math.Abs(v+r.t.Data[c*r.t.Stride+e]))
		}
	}
	if err := r.solver.solve(ctx, b); err != nil {
		return 0, err
	}
	for i, e := range examples {
		row := dense.Row(b, i)
		row[e]--
		for _, v := range row {
			worst = max(worst, math.Abs(v))
		}
	}
	return worst, nil
}

// Refresh recomputes the state from inputs and targets: O(n²d + n³).
func (r *Regression) Refresh(ctx context.Context) error {
	count, changes := r.refreshes, r.changes
	if err := r.fit(ctx, r.x, r.t); err != nil {
		return wrap("refresh", err)
	}
	r.refreshes, r.changes = count+1, changes
	return nil
}

// Refreshes returns how often drift caused the state to be recomputed.
func (r *Regression) Refreshes() int { return r.refreshes }

// Fold adds pending Woodbury corrections to the inverse, which changes values in
// the last bits. It does nothing for Cholesky.
func (r *Regression) Fold() {
	if w, ok := r.solver.(*woodbury); ok {
		w.fold()
	}
}
