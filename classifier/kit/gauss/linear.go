package gauss

import (
	"errors"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Features returns what Weights weighs, for whitened rows z (n×d): z, its squared
// coordinates along V, and the squared length of the remainder (n×(d+r+1)). O(ndr).
func (sp *Space) Features(white blas64.General) (blas64.General, error) {
	along, err := sp.along(white)
	if err != nil {
		return along, err
	}
	out := dense.New(white.Rows, white.Cols+along.Cols+1)
	dense.Copy(dense.View(out, 0, 0, white.Rows, white.Cols), white)
	dense.Copy(dense.View(out, 0, white.Cols, white.Rows, along.Cols+1), squares(white, along))
	return out, nil
}

// Weights returns w (one row per column) and b with which the log-density of a
// class is b + w·Features(z). Its densities must be Gaussian, without low-rank
// parts.
func (s *Stack) Weights(columns []int) (w blas64.General, b []float64, err error) {
	d := s.space.Dim()
	w, b = dense.New(len(columns), d+s.precision.Cols), make([]float64, len(columns))
	for i, c := range columns {
		p := s.densities[c]
		if p.student() || len(p.shift) > 0 {
			return w, b, errors.New("the log-density of a class is not linear in its features")
		}
		row := dense.Row(w, i)
		copy(row, p.weight)
		for j, v := range dense.Row(s.precision, s.shared[c]) {
			row[d+j] = -v / 2
		}
		b[i] = -(p.square + p.logDet) / 2
	}
	return w, b, nil
}

// Unseen returns w and b with which the log-density of a class that has not been seen
// is b + w·Features(z).
func (s *Stack) Unseen() (w []float64, b float64) {
	d := s.space.Dim()
	w = make([]float64, d+s.precision.Cols)
	for j, v := range dense.Row(s.precision, s.precision.Rows-1) {
		w[d+j] = -v / 2
	}
	return w, -s.unseen / 2
}
