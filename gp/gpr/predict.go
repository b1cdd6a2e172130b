package gpr

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Mean writes the predictive means (eq. 2 and 4) at inputs x (m×d) into dst
// (m×C): O(mn(d+C)). Each row is independent of the others.
func (r *Regression) Mean(dst, x blas64.General) error {
	if err := r.checkQuery(x, dst.Rows); err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	if r.Len() == 0 {
		for i := range dst.Rows {
			clear(dense.Row(dst, i))
		}
		return nil
	}
	b := dense.New(x.Rows, r.Len())
	if err := r.kernel.block(linalg.Backend{}, b, measured(x), r.x); err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	return linalg.Backend{}.MulTrans64(dst, b, r.alpha)
}

// Variance writes the predictive variances (eq. 3, with σ²) at inputs x (m×d)
// into dst (m): O(mn(d+n)). They are the same for all outputs.
func (r *Regression) Variance(dst []float64, x blas64.General) error {
	if err := r.checkQuery(x, len(dst)); err != nil {
		return fmt.Errorf("variance: %w", err)
	}
	if x.Rows == 0 {
		return nil
	}
	prior := make([]float64, x.Rows)
	r.kernel.diagonal(prior, x)
	clear(dst)
	if r.Len() > 0 {
		b := dense.New(x.Rows, r.Len())
		if err := r.kernel.block(linalg.Backend{}, b, measured(x), r.x); err != nil {
			return fmt.Errorf("variance: %w", err)
		}
		r.solver.quad(dst, b)
	}
	for i, known := range dst {
		dst[i] = max(0, prior[i]-known) + r.cfg.Noise
	}
	return nil
}

func (r *Regression) checkQuery(x blas64.General, results int) error {
	if err := dense.Valid(x); err != nil {
		return err
	}
	if results != x.Rows {
		return fmt.Errorf("destination for %d results, there are %d inputs", results, x.Rows)
	}
	if r.Len() > 0 && x.Rows > 0 && x.Cols != r.Dim() {
		return fmt.Errorf("inputs of %d values, want %d", x.Cols, r.Dim())
	}
	return nil
}

// LeaveOneOut returns the mean (n×C) predicted for each example by a regression
// on all others: t − α/diag((K+σ²I)⁻¹). It takes O(nC), and O(n³/3) the first
// time. It must not run concurrently with other methods.
func (r *Regression) LeaveOneOut(ctx context.Context) (blas64.General, error) {
	if err := r.invertDiagonal(ctx); err != nil {
		return blas64.General{}, fmt.Errorf("leave one out: %w", err)
	}
	out := dense.New(r.Len(), r.Outputs())
	for c := range out.Cols {
		t, alpha := dense.Row(r.t, c), dense.Row(r.alpha, c)
		for i, d := range r.diag {
			out.Data[i*out.Stride+c] = t[i] - alpha[i]/d
		}
	}
	return out, nil
}

// invertDiagonal computes the diagonal of the inverse unless it is known.
func (r *Regression) invertDiagonal(ctx context.Context) error {
	if r.diag != nil {
		return nil
	}
	diag, err := r.solver.diagonal(ctx)
	if err == nil {
		r.diag = diag
	}
	return err
}

// LogMarginalLikelihood returns Σ_c log N(t_c | 0, K+σ²I) in nats: O(nC).
func (r *Regression) LogMarginalLikelihood() float64 {
	n, C := float64(r.Len()), float64(r.Outputs())
	sum := -C / 2 * (r.logDet + n*math.Log(2*math.Pi))
	for c := range r.Outputs() {
		sum -= dense.Dot(dense.Row(r.t, c), dense.Row(r.alpha, c)) / 2
	}
	return sum
}
