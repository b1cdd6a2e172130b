package gpsoftmax

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/gp/quadrature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// logisticSoftmax is p(y = c | f) = σ(f_c)/Σσ(f_j).
type logisticSoftmax struct{}

func (logisticSoftmax) order(examples, _ int) int { return examples }

// logLikelihoods writes log σ(f_c) − log Σσ(f_j).
func (logisticSoftmax) logLikelihoods(dst, f []float64) {
	for c, v := range f {
		dst[c] = quadrature.LogSigmoid(v)
	}
	total := floats.LogSumExp(dst)
	for c := range dst {
		dst[c] -= total
	}
}

// independent is the posterior of functions that are independent given the
// auxiliary variables.
type independent struct {
	d            data
	omega, kappa blas64.General // C×n
}

// largestRate bounds λ, so that counts stay finite; it is reached only if every
// σ(f_c) is below about 1e-9.
const largestRate = 1 << 30

// augment draws λ, n and ω: (λ, n) | f at once, by λ | f ~ Exp(Σσ(f_c)), which
// has n summed out, and n_c | λ, f ~ Poisson(λσ(−f_c)); then
// ω_c ~ PG(y_c + n_c, f_c), with κ_c = (y_c − n_c)/2.
func (logisticSoftmax) augment(d data, f blas64.General, rng *rand.Rand) posterior {
	p := independent{d, dense.New(f.Rows, f.Cols), dense.New(f.Rows, f.Cols)}
	for i, own := range d.own {
		var total float64
		for c := range f.Rows {
			total += sigmoid(dense.Row(f, c)[i])
		}
		rate := min(rng.ExpFloat64()/total, largestRate)
		for c := range f.Rows {
			v := dense.Row(f, c)[i]
			n := poisson(rng, rate*sigmoid(-v))
			var y float64
			if c == own {
				y = 1
			}
			dense.Row(p.kappa, c)[i] = (y - n) / 2
			dense.Row(p.omega, c)[i] = drawOmega(rng, int(y+n), v)
		}
	}
	return p
}

func (p independent) draw(ctx context.Context, dst []blas64.General, rng *rand.Rand) error {
	for c := range p.omega.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		g, err := p.d.given(dense.Row(p.omega, c), dense.Row(p.kappa, c))
		if err != nil {
			return err
		}
		for _, t := range dst {
			g.draw(dense.Row(t, c), rng)
		}
	}
	return nil
}

// sigmoid returns σ(v).
func sigmoid(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// poisson draws a Poisson count.
func poisson(rng *rand.Rand, mean float64) float64 {
	if mean >= 10 {
		return distuv.Poisson{Lambda: mean, Src: rng}.Rand()
	}
	var n float64
	for t := rng.ExpFloat64(); t < mean; t += rng.ExpFloat64() {
		n++
	}
	return n
}

// exactUpTo is the largest b for which PG(b, c) is drawn exactly. Above it the
// variable is a sum of so many draws that a normal with its mean and variance,
// which is more than thirty deviations from 0, replaces it.
const exactUpTo = 1000

// drawOmega draws from PG(b, c).
func drawOmega(rng *rand.Rand, b int, c float64) float64 {
	if b <= exactUpTo {
		return polyagamma.DrawSum(rng, b, c)
	}
	return max(polyagamma.Mean(b, c)+math.Sqrt(polyagamma.Variance(b, c))*rng.NormFloat64(), 0)
}
