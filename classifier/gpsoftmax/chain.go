package gpsoftmax

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// data holds what the chains share. It is never changed.
type data struct {
	*basis
	own     []int // class of every example
	classes int
}

// A likelihood is p(y | f) with an augmentation that makes f Gaussian.
type likelihood interface {
	// order returns the order of the largest linear system.
	order(examples, classes int) int
	// augment draws the auxiliary variables given f (C×n).
	augment(d data, f blas64.General, rng *rand.Rand) posterior
	// logLikelihoods writes log p(y = c | f) of all classes into dst, up to a
	// constant.
	logLikelihoods(dst, f []float64)
}

// A posterior is p(t | y) of all classes given auxiliary variables.
type posterior interface {
	// draw fills every matrix of dst (C×r) with a draw. It looks at ctx before each
	// decomposition.
	draw(ctx context.Context, dst []blas64.General, rng *rand.Rand) error
}

func likelihoodOf(method string) likelihood {
	if method == OVE {
		return oneVsEach{}
	}
	return logisticSoftmax{}
}

// sample runs all chains and returns their draws: t of class c in draw s is row s·C + c.
func sample(ctx context.Context, cfg Config, l likelihood, d data) (blas64.General, error) {
	C := d.classes
	draws := dense.New(cfg.Chains*cfg.Draws*C, d.phi.Cols)
	return draws, dense.ParallelErr(cfg.Chains, func(c int) error {
		var own []blas64.General
		for s := range cfg.Draws {
			own = append(own, dense.Rows(draws, (c*cfg.Draws+s)*C, (c*cfg.Draws+s+1)*C))
		}
		return run(ctx, l, d, cfg.Steps, own, random.Stream(cfg.Seed, "classifier/gpc/chain", c))
	})
}

// run runs one chain: it starts at f = 0, and its last auxiliary variables give
// all its draws.
func run(ctx context.Context, l likelihood, d data, steps int, draws []blas64.General, rng *rand.Rand) error {
	f, t := dense.New(d.classes, len(d.own)), dense.New(d.classes, d.phi.Cols)
	for range steps {
		if err := step(ctx, l, d, f, t, rng); err != nil {
			return err
		}
	}
	return l.augment(d, f, rng).draw(ctx, draws, rng)
}

// step draws the auxiliary variables given f, and then t and f = Φt.
func step(ctx context.Context, l likelihood, d data, f, t blas64.General, rng *rand.Rand) error {
	if err := l.augment(d, f, rng).draw(ctx, []blas64.General{t}, rng); err != nil {
		return err
	}
	linalg.MulTrans64(f, t, d.phi)
	return nil
}
