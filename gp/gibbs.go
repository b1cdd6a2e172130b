package gp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Bounds of a schedule.
const (
	maxChains = 1 << 12
	maxSteps  = 1 << 20
)

// A Schedule sets how long to sample.
type Schedule struct {
	// Chains is the number of independent chains.
	Chains int `json:"chains" mapstructure:"chains"`
	// Steps is the number of draws of f and then ω in each chain.
	Steps int `json:"steps" mapstructure:"steps"`
	// Start is where chains start; "" means AtMean.
	Start ChainStart `json:"start,omitempty" mapstructure:"start"`
}

// A ChainStart is the f for which a chain draws its first ω.
type ChainStart string

// The starts. With few steps they matter: ω | f = m is the same for all examples.
const (
	// AtMean is f = m.
	AtMean ChainStart = "mean"
	// AtDraw is a draw from the prior, f ~ N(m, K), as in the authors' program.
	AtDraw ChainStart = "prior"
)

// PaperSchedule returns 10 chains, as §C.1 has it for 40 or more classes, of one step.
// The paper does not say how many steps; the authors' program takes ten, in 30 chains
// (few-shot sessions), and starts at draws from the prior.
func PaperSchedule() Schedule { return Schedule{Chains: 10, Steps: 1} }

// Validate names the field that is out of range.
func (s Schedule) Validate() error {
	return cmp.Or(setting.Int("chains", s.Chains, 1, maxChains), setting.Int("steps", s.Steps, 1, maxSteps),
		setting.OneOf("start", cmp.Or(s.Start, AtMean), AtMean, AtDraw))
}

// Gibbs is a binary classifier whose posterior is a mixture over the ω of
// several chains. It is immutable and safe for concurrent use.
type Gibbs struct {
	prior Prior
	yes   []bool
	omega [][]float64
	// given returns the posterior by chain. Only predictions need it, so the first
	// one computes it.
	given []func() (conditional, error)
}

// conditional is the posterior given ω. At a row k* of covariances (features in
// weight space),
//
//	μ* = weights·k*,  Σ* = k** − ‖factor·k*‖²  (‖factor·k*‖² in weight space)
type conditional struct {
	weights []float64
	factor  blas64.General
}

// FitGibbs samples the chains of a node (eq. 4): yes[i] is y of example i, and
// stream(c) the random numbers of chain c, called from several goroutines. It
// checks ctx before it begins and then runs to the end.
func FitGibbs(ctx context.Context, prior Prior, yes []bool, s Schedule,
	stream func(chain int) *rand.Rand) (*Gibbs, error) {
	if err := cmp.Or(s.Validate(), checkYes(prior.Len(), yes), ctx.Err()); err != nil {
		return nil, fmt.Errorf("gp: gibbs: %w", err)
	}
	omega, err := newSampler(prior, halves(yes)).run(s, stream)
	if err != nil {
		return nil, fmt.Errorf("gp: gibbs: %w", err)
	}
	return NewGibbs(prior, yes, omega)
}

// NewGibbs returns the classifier for given ω, n values per chain as returned by
// Omega. It retains yes and omega, which must not change.
func NewGibbs(prior Prior, yes []bool, omega [][]float64) (*Gibbs, error) {
	if err := checkYes(prior.Len(), yes); err != nil {
		return nil, fmt.Errorf("gp: gibbs: %w", err)
	}
	if len(omega) == 0 {
		return nil, fmt.Errorf("gp: gibbs: no chains")
	}
	g := &Gibbs{prior: prior, yes: yes, omega: omega, given: make([]func() (conditional, error), len(omega))}
	kappa := halves(yes)
	for c := range omega {
		half, err := roots(omega[c], len(kappa))
		if err != nil {
			return nil, fmt.Errorf("gp: gibbs: chain %d: %w", c, err)
		}
		g.given[c] = sync.OnceValues(func() (conditional, error) { return condition(prior, kappa, omega[c], half) })
	}
	return g, nil
}

// On returns the classifier with the same ω on another backend.
func (g *Gibbs) On(m linalg.Backend) (*Gibbs, error) {
	return NewGibbs(g.prior.On(m), g.yes, g.omega)
}

func checkYes(n int, yes []bool) error {
	if n == 0 || len(yes) != n {
		return fmt.Errorf("%d labels for %d examples", len(yes), n)
	}
	return nil
}

// halves returns κ.
func halves(yes []bool) []float64 {
	kappa := make([]float64, len(yes))
	for i, y := range yes {
		kappa[i] = -0.5
		if y {
			kappa[i] = 0.5
		}
	}
	return kappa
}

// condition returns the posterior of f − m given ω, whose square roots are half.
func condition(p Prior, kappa, omega, half []float64) (conditional, error) {
	a := dense.New(p.width(), p.width())
	if err := p.factor(a, half); err != nil {
		return conditional{}, fmt.Errorf("gp: predict: %w", err)
	}
	t := p.target(kappa, omega)
	w := p.timesKappa(t)
	if p.weights { // A⁻¹Φᵀt
		solve(a, w)
	} else {
		scale(w, half) // t − Ω^½B⁻¹Ω^½Kt = Ω^½B⁻¹Ω^−½t without 0/0
		solve(a, w)
		for i := range w {
			w[i] = t[i] - half[i]*w[i]
		}
	}
	if err := linalg.InvertLower(p.backend.Raw(), a); err != nil {
		return conditional{}, fmt.Errorf("gp: predict: %w", err)
	}
	if !p.weights {
		for i := range a.Rows {
			scale(dense.Row(a, i), half)
		}
	}
	return conditional{w, a}, nil
}

// roots returns Ω^½ of n values ≥ 0.
func roots(omega []float64, n int) ([]float64, error) {
	if len(omega) != n {
		return nil, fmt.Errorf("%d values of ω for %d examples", len(omega), n)
	}
	half := make([]float64, n)
	for i, w := range omega {
		if !(w >= 0 && w <= math.MaxFloat32) {
			return nil, fmt.Errorf("ω of example %d is %g", i, w)
		}
		half[i] = math.Sqrt(w)
	}
	return half, nil
}

func scale(v, by []float64) {
	for i := range v {
		v[i] *= by[i]
	}
}

// Omega returns ω, n values per chain. The caller must not change it.
func (g *Gibbs) Omega() [][]float64 { return g.omega }

// Latent returns the moments of f − m (eq. 12) at q inputs: rows holds their
// covariances with the examples (q×n) and prior their prior variances (q); in
// weight space rows holds their features (q×r) and prior is nil.
func (g *Gibbs) Latent(rows blas64.General, prior []float64) (Latent, error) {
	if (prior == nil) != g.prior.weights {
		return Latent{}, fmt.Errorf("gp: predict: prior variances are required in function space and not allowed in " +
			"weight space")
	}
	l, err := newLatent(rows, prior, g.prior.width(), len(g.given))
	if err != nil {
		return l, err
	}
	return l, dense.ParallelErr(len(g.given), func(c int) error { return g.latent(l, c, rows, prior) })
}

// latent fills the column of chain c.
func (g *Gibbs) latent(l Latent, c int, rows blas64.General, prior []float64) error {
	given, err := g.given[c]()
	if err != nil {
		return err
	}
	project(l.Mean, c, rows, given.weights)
	if g.prior.weights {
		return addSquares(g.prior.backend, l.Var, c, 1, rows, given.factor)
	}
	for i, v := range prior {
		dense.Row(l.Var, i)[c] = v
	}
	err = addSquares(g.prior.backend, l.Var, c, -1, rows, given.factor)
	for i := range prior {
		dense.Row(l.Var, i)[c] = max(dense.Row(l.Var, i)[c], 0)
	}
	return err
}
