package gp

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// An example enters the posterior of g = f − m as a Gaussian factor of precision λ
// (ω in a chain) and natural mean t = κ − λm. Without that factor, a posterior of
// mean g and variance v at the example becomes
//
//	v' = v/(1 − vλ),   g' = (g − vt)/(1 − vλ)
//
// with the λ of the other examples as they are.

// leaveOut replaces the moments of g at an example by those without its factor.
func leaveOut(g, v, lambda, t float64) (float64, float64) {
	rest := max(1-v*lambda, leastRest)
	return (g - v*t) / rest, v / rest
}

// leastRest keeps rounding from making 1 − vλ, the share of the precision that the
// other examples have, zero.
const leastRest = 1e-9

// LeaveOneOut returns log p(y_i | all other examples) of every example (n, nats).
func (g *Gibbs) LeaveOneOut() ([]float64, error) {
	l, err := g.own()
	if err != nil {
		return nil, err
	}
	kappa := halves(g.yes)
	for c, omega := range g.omega {
		t := g.prior.target(kappa, omega)
		for i, w := range omega {
			m, v := &dense.Row(l.Mean, i)[c], &dense.Row(l.Var, i)[c]
			*m, *v = leaveOut(*m, *v, w, t[i])
		}
	}
	l.Shift(g.prior.mean)
	return l.ofSides(g.yes), nil
}

// own returns the moments of f − m at the examples.
func (g *Gibbs) own() (Latent, error) {
	if g.prior.weights {
		return g.Latent(g.prior.phi, nil)
	}
	n := g.prior.Len()
	l := Latent{Mean: dense.New(n, len(g.omega)), Var: dense.New(n, len(g.omega))}
	return l, dense.ParallelErr(len(g.omega), func(c int) error {
		given, err := g.given[c]()
		if err != nil {
			return err
		}
		project(l.Mean, c, g.prior.k, given.weights)
		g.ownVariances(l.Var, c, given.factor)
		return nil
	})
}

// enough is the least share ωk_ii for which ownVariances takes the inverse of B.
const enough = 1e-4

// ownVariances writes the variances of f at the examples into column c of dst. From
// Ω^½ΣΩ^½ = I − B⁻¹ they are (1 − (B⁻¹)_ii)/ω_i, and (B⁻¹)_ii is a column's sum of
// squares of the factor, over ω_i: n² multiplications instead of the n³ of a
// prediction. Where ω_i is so small that this would cancel, it predicts.
func (g *Gibbs) ownVariances(dst blas64.General, c int, factor blas64.General) {
	squares := make([]float64, factor.Cols)
	for r := range factor.Rows {
		for i, x := range dense.Row(factor, r)[:r+1] {
			squares[i] += x * x
		}
	}
	for i, w := range g.omega[c] {
		k := dense.Row(g.prior.k, i)
		v := (1 - squares[i]/w) / w
		if !(w*k[i] > enough) {
			v = k[i]
			for r := range factor.Rows {
				x := dense.Dot(dense.Row(factor, r)[:r+1], k[:r+1])
				v -= x * x
			}
		}
		dense.Row(dst, i)[c] = max(v, 0)
	}
}

// LeaveOneOut returns log p(y_i | all other examples) of every example of a batch
// (n, nats), which must be the examples that q was fitted to. What the inducing
// inputs do not determine stays with the prior.
func (v *VI) LeaveOneOut(b *Batch) ([]float64, error) {
	n := len(b.kappa)
	l, yes := Latent{Mean: dense.New(n, 1), Var: dense.New(n, 1)}, make([]bool, n)
	_, c, err := v.moments(b)
	if err == nil {
		project(l.Mean, 0, b.a, v.q.mean)
		err = v.addSquares(l.Var, b.a)
	}
	if err != nil {
		return nil, fmt.Errorf("gp: vi: %w", err)
	}
	t := b.target(c)
	for i := range yes {
		l.Mean.Data[i], l.Var.Data[i] = leaveOut(l.Mean.Data[i], l.Var.Data[i], polyagamma.Mean(1, c[i]), t[i])
		l.Var.Data[i] += b.rest[i]
		yes[i] = b.kappa[i] > 0
	}
	l.Shift(b.prior)
	return l.ofSides(yes), nil
}

// ofSides returns the log-probability of the side that every example is on.
func (l Latent) ofSides(yes []bool) []float64 {
	left, right := make([]float64, len(yes)), make([]float64, len(yes))
	l.LogProbs(left, right, Quadrature)
	for i, y := range yes {
		if !y {
			left[i] = right[i]
		}
	}
	return left
}
