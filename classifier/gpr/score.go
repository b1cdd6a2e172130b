package gpr

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Score implements classifier.Head in O(n(d+C)) per row, plus O(n²) if the
// novelty is wanted, for the predictive variance.
func (h *GPR) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if err := classifier.CheckScore(h, dst, novelty, x); err != nil {
		return fmt.Errorf("gpr: %w", err)
	}
	return h.each(x, func(first int, z blas64.General) error {
		means := dense.Rows(dst, first, first+z.Rows)
		if err := h.reg.Mean(means, z); err != nil {
			return err
		}
		largest := make([]float64, means.Rows)
		for i := range means.Rows {
			row := dense.Row(means, i)
			largest[i] = slices.Max(row)
			for j := range row {
				row[j] /= h.tau
			}
			classifier.LogSoftmax(row)
		}
		if novelty == nil {
			return nil
		}
		return h.novelty(novelty[first:first+z.Rows], largest, z)
	})
}

// novelty writes −(max μ_c + 1)/√variance, given the largest means.
func (h *GPR) novelty(dst, largest []float64, z blas64.General) error {
	err := h.reg.Variance(dst, z)
	for i, v := range dst {
		dst[i] = -(largest[i] + 1) / math.Sqrt(v)
	}
	return err
}

// Variance implements classifier.Varier: eq. 3, in O(n(d+n)) per row.
func (h *GPR) Variance(dst []float64, x blas32.General) error {
	if len(dst) != x.Rows {
		return fmt.Errorf("gpr: %d variances for %d examples", len(dst), x.Rows)
	}
	if err := classifier.CheckRows(x, h.Dim()); err != nil {
		return fmt.Errorf("gpr: %w", err)
	}
	if h.Dim() == 0 {
		return fmt.Errorf("gpr: %w", classifier.ErrNotFitted)
	}
	return h.each(x, func(first int, z blas64.General) error {
		return h.reg.Variance(dst[first:first+z.Rows], z)
	})
}

// batchRows is the number of rows scored at a time.
const batchRows = 256

// each calls do with successive batches of rows of x, scaled as the kernel
// expects.
func (h *GPR) each(x blas32.General, do func(first int, z blas64.General) error) error {
	for first := 0; first < x.Rows; first += batchRows {
		batch := h.Frame.Of(dense.Rows32(x, first, min(first+batchRows, x.Rows)))
		if err := do(first, classifier.Placed(batch, dense.Range(0, batch.Rows), h.cfg.Normalize)); err != nil {
			return fmt.Errorf("gpr: %w", err)
		}
	}
	return nil
}
