package gp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/gp/quadrature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Prediction is a way to compute probabilities from the moments of f.
type Prediction string

// The predictions.
const (
	// Quadrature averages σ over f (eq. 11).
	Quadrature Prediction = "quadrature"
	// PlugIn evaluates σ at the mean of f (§C.1).
	PlugIn Prediction = "plug-in"
)

// Validate returns an error unless p is one of the predictions.
func (p Prediction) Validate() error { return setting.OneOf("prediction", p, Quadrature, PlugIn) }

// A Latent holds the moments of f at q inputs under an equally weighted mixture
// of Gaussians, one column per chain.
type Latent struct {
	// Mean is μ*, Var is Σ* (both q×chains).
	Mean, Var blas64.General
}

// LogProbs writes the logarithms of p(y* = 1) and p(y* = 0) into yes and no
// (q, nats). Probabilities are computed for each chain and then averaged.
func (l Latent) LogProbs(yes, no []float64, by Prediction) {
	chains := l.Mean.Cols
	each := make([]float64, 2*chains)
	for i := range l.Mean.Rows {
		mean, variance := dense.Row(l.Mean, i), dense.Row(l.Var, i)
		for c := range chains {
			if by == PlugIn {
				each[c], each[chains+c] = quadrature.PlugIn(mean[c])
			} else {
				each[c], each[chains+c] = quadrature.LogSigmoids(mean[c], variance[c])
			}
		}
		yes[i], no[i] = logMean(each[:chains]), logMean(each[chains:])
	}
}

// Shift adds m (q) to the mean of f in every chain.
func (l Latent) Shift(m []float64) {
	for i, v := range m {
		floats.AddConst(v, dense.Row(l.Mean, i))
	}
}

// logMean returns log(1/n Σ eᵛ).
func logMean(v []float64) float64 {
	largest := slices.Max(v)
	var sum float64
	for _, x := range v {
		sum += math.Exp(x - largest)
	}
	return largest + math.Log(sum/float64(len(v)))
}

// Variances writes the variance of f (q) into dst: the mean of the chains'
// variances plus the variance of their means.
func (l Latent) Variances(dst []float64) {
	n := float64(l.Mean.Cols)
	for i := range dst {
		var mean, variance float64
		for c, m := range dense.Row(l.Mean, i) {
			mean += m / n
			variance += dense.Row(l.Var, i)[c] / n
		}
		for _, m := range dense.Row(l.Mean, i) {
			variance += (m - mean) * (m - mean) / n
		}
		dst[i] = variance
	}
}

// newLatent checks the inputs to predict at and returns zero moments for them.
func newLatent(rows blas64.General, prior []float64, width, chains int) (Latent, error) {
	if err := dense.Valid(rows); err != nil {
		return Latent{}, fmt.Errorf("gp: predict: %w", err)
	}
	if rows.Cols != width || prior != nil && len(prior) != rows.Rows {
		return Latent{}, fmt.Errorf("gp: predict: %d×%d covariances with %d prior variances, want %d columns",
			rows.Rows, rows.Cols, len(prior), width)
	}
	return Latent{Mean: dense.New(rows.Rows, chains), Var: dense.New(rows.Rows, chains)}, nil
}

// band is the number of rows of a triangular factor multiplied at a time.
const band = 64

// wholeValues is the size of a factor from which a library multiplies all of it
// faster than gonum multiplies its triangle; backends leave smaller factors to
// gonum anyway.
const wholeValues = 1 << 16

// addSquares adds sign·‖factor·row‖² for every row (q×k) to column c of dst; the
// result for a row does not depend on the other rows. factor is lower triangular
// with zeros above the diagonal, which gonum skips.
func addSquares(on linalg.Backend, dst blas64.General, c int, sign float64, rows, factor blas64.General) error {
	if rows.Rows == 0 {
		return nil
	}
	if !on.IsGonum() && factor.Rows*factor.Cols >= wholeValues {
		t := dense.New(rows.Rows, factor.Rows)
		if err := on.Mul64(t, rows, factor); err != nil {
			return fmt.Errorf("gp: predict: %w", err)
		}
		addLengths(dst, c, sign, t)
		return nil
	}
	products := dense.New(rows.Rows, min(band, factor.Rows))
	for first := 0; first < factor.Rows; first += band {
		last := min(first+band, factor.Rows)
		t := dense.View(products, 0, 0, rows.Rows, last-first)
		linalg.MulTrans64(t, dense.View(rows, 0, 0, rows.Rows, last), dense.View(factor, first, 0, last-first, last))
		addLengths(dst, c, sign, t)
	}
	return nil
}

// addLengths adds sign·‖row‖² for every row of t to column c of dst.
func addLengths(dst blas64.General, c int, sign float64, t blas64.General) {
	for i := range t.Rows {
		r := dense.Row(t, i)
		dense.Row(dst, i)[c] += sign * dense.Dot(r, r)
	}
}

// project writes w·row for every row (q×k) into column c of dst.
func project(dst blas64.General, c int, rows blas64.General, w []float64) {
	for i := range rows.Rows {
		dense.Row(dst, i)[c] = dense.Dot(dense.Row(rows, i), w)
	}
}
