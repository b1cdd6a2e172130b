package dkl

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

func (h *Projection) checkEmbeddings(x blas64.General) error {
	if err := checkMatrix("embeddings", x, x.Rows, h.In()); err != nil {
		return err
	}
	if i := dense.NotFinite(x); i >= 0 {
		return &classifier.NotFiniteError{Row: i}
	}
	return nil
}

func (h *Projection) checkBackward(gradTheta []float64, gradX, x, gradZ blas64.General) error {
	if x.Rows == 0 {
		return fmt.Errorf("no examples")
	}
	if len(gradTheta) != len(h.theta) {
		return fmt.Errorf("a gradient of %d values for %d parameters", len(gradTheta), len(h.theta))
	}
	if gradX.Rows != 0 || gradX.Cols != 0 {
		if err := checkMatrix("input gradient", gradX, x.Rows, h.In()); err != nil {
			return err
		}
	}
	if err := h.checkEmbeddings(x); err != nil {
		return err
	}
	return checkFinite("output gradient", gradZ, x.Rows, h.Dim())
}

func checkMatrix(what string, m blas64.General, rows, cols int) error {
	if err := dense.Valid(m); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if m.Rows != rows || m.Cols != cols {
		return fmt.Errorf("%s: a matrix of %d×%d, want %d×%d", what, m.Rows, m.Cols, rows, cols)
	}
	return nil
}

func checkFinite(what string, m blas64.General, rows, cols int) error {
	if err := checkMatrix(what, m, rows, cols); err != nil {
		return err
	}
	if i := dense.NotFinite(m); i >= 0 {
		return fmt.Errorf("%s: row %d holds a NaN or an infinity: training diverged, lower the rate", what, i)
	}
	return nil
}
