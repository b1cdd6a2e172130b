package lowrank

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// mixtureRows bounds the rows held in float64 at a time.
const mixtureRows = 2048

// Mixture returns the Gaussian with the mean and the leading r components of
// the covariance of the mixture of gs (at least one), which minimises the sum
// of the KL divergences from them to it (eq. 4.13, 4.14). Weights need not sum
// to 1; mul is the backend. The values of the components exclude λ, unlike in
// eq. 4.14.
func Mixture(gs []Gaussian, weights []float64, r int, mul linalg.Backend) (Gaussian, error) {
	share := shares(weights)
	out := Gaussian{Mean: make([]float64, gs[0].Dim())}
	spread := 0 // whether λ differs
	for i := range gs {
		out.N += gs[i].N
		for j, v := range gs[i].Mean {
			out.Mean[j] += share[i] * v
		}
		out.Lambda += share[i] * gs[i].Lambda
		if gs[i].Lambda != gs[0].Lambda {
			spread++
		}
	}
	if spread == 0 {
		out.Lambda = gs[0].Lambda // exact, without rounding
	}
	e, err := factorEigen(linalg.Solver{Backend: mul}, gs, share, out.Mean, r)
	out.Values, out.Basis = e.Values, dense.Narrowed(e.Vectors.Data)
	return out, err
}

func shares(weights []float64) []float64 {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	out := make([]float64, len(weights))
	for i, w := range weights {
		out[i] = w / sum
	}
	return out
}

// factorEigen returns the leading eigenpairs of
// Σ share·(δδᵀ + L·D·Lᵀ), δ = μ − mean.
func factorEigen(solver linalg.Solver, gs []Gaussian, share, mean []float64, r int) (linalg.Eigen, error) {
	d, rows := len(mean), len(gs)
	for i := range gs {
		rows += len(gs[i].Values)
	}
	if r = min(r, rows, d); r <= 0 {
		return linalg.Eigen{Vectors: dense.New(0, d)}, nil
	}
	if rows <= d {
		return solver.ThinEigen(factor(gs, share, mean, rows), r, 1)
	}
	sum := dense.New(d, d)
	for first := 0; first < len(gs); {
		last, n := first, 0
		for last < len(gs) && (last == first || n+1+len(gs[last].Values) <= mixtureRows) {
			n += 1 + len(gs[last].Values)
			last++
		}
		s, err := solver.Scatter(factor(gs[first:last], share[first:last], mean, n))
		if err != nil {
			return linalg.Eigen{}, err
		}
		for i, v := range s.Data {
			sum.Data[i] += v
		}
		first = last
	}
	e, err := solver.TopEigen(sum, r)
	return e.Positive(1e-14), err
}

// factor returns rows whose scatter is the sum of factorEigen.
func factor(gs []Gaussian, share, mean []float64, rows int) blas64.General {
	z := dense.New(rows, len(mean))
	at := 0
	next := func() []float64 { at++; return dense.Row(z, at-1) }
	for i := range gs {
		scale := math.Sqrt(share[i])
		row := next()
		for j, v := range gs[i].Mean {
			row[j] = scale * (v - mean[j])
		}
		for b, v := range gs[i].Values {
			row, scale := next(), math.Sqrt(share[i]*v)
			for j, l := range gs[i].row(b) {
				row[j] = scale * float64(l)
			}
		}
	}
	return z
}
