package gauss

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// ErrPrior is wrapped by errors about a prior that a head cannot use.
var ErrPrior = errors.New("the prior cannot be used")

// A Prior is what other labelled images of the same backbone tell of the spread
// within classes. It is immutable.
type Prior struct {
	// Within is P (d×d), the covariance within classes of embeddings of length 1.
	Within blas64.General
	// Epsilon is the ε for sessions from which none can be chosen, 0 if unknown.
	Epsilon float64
}

// A PriorUser is a head that can start from a prior.
type PriorUser interface {
	// UsePrior sets the prior of the base session; nil is none. It is called before
	// that, or on a loaded head with the prior that it was trained with, which then
	// applies to the heads that Unfitted returns. The error wraps ErrPrior.
	UsePrior(*Prior) error
	// PriorWeight returns the number of degrees of freedom that the prior counts
	// as in the head, 0 without one or if the base session left it out.
	PriorWeight() float64
}

// diagonal is the share of the diagonal of P in the target of the shrinkage; the
// rest is I, because P may be zero somewhere.
const diagonal = 2.0 / 3

// With returns the basis with S replaced by (D·S + weight·P)/(D + weight), of D +
// weight degrees of freedom, which is shrunk towards ⅔·diag(P)·d/tr(P) + ⅓·I. O(d²).
func (b *Basis) With(p *Prior, weight float64) (*Basis, error) {
	if p.Within.Rows != b.Dim() {
		return nil, fmt.Errorf("%w: it is one of embeddings of %d values, these have %d",
			ErrPrior, p.Within.Rows, b.Dim())
	}
	out := *b
	D := float64(b.Degrees())
	S, err := b.full()
	if err != nil {
		return nil, err
	}
	out.within, out.weight, out.epsilon = dense.Clone(S), weight, p.Epsilon
	out.pairs, out.thin = nil, blas64.General{}
	blas64.Scal(D/(D+weight), dense.Vector(out.within.Data))
	blas64.Axpy(weight/(D+weight), dense.Vector(p.Within.Data), dense.Vector(out.within.Data))
	out.target = make([]float64, b.Dim())
	mean := max(dense.Trace(p.Within)/float64(b.Dim()), noSpread)
	for i := range out.target {
		out.target[i] = diagonal*p.Within.Data[i*p.Within.Stride+i]/mean + 1 - diagonal
	}
	return &out, nil
}

const (
	// MostLeftOut is the largest number of examples of a class up to which settings
	// are chosen by leaving single examples out.
	MostLeftOut = 20
	// defaultWeight is the weight of a prior where examples cannot be left out.
	defaultWeight = 300
)

// weighed is With for the given weight or, if that is 0, for the one under which
// examples of the session that are left out are most probable, with an ε chosen
// likewise (PriorEpsilon); 300 and the ε of the prior if the session is large or has
// too few pairs of examples to tell. Without a prior, or if they are more probable
// without it, it returns the basis.
func (b *Basis) weighed(ctx context.Context, s *moments.Session, p *Prior, weight float64) (*Basis, error) {
	switch {
	case p == nil:
		return b, nil
	case weight > 0:
		return b.With(p, weight)
	}
	with, err := b.With(p, defaultWeight)
	if err != nil || b.MostExamples() > MostLeftOut {
		return with, err
	}
	left := with.LeaveOut(s)
	if left == nil {
		return with, nil
	}
	_, epsilon, err := left.Choose(ctx)
	if err == nil {
		with, err = left.mostProbable(ctx, b, p, epsilon)
	}
	if err != nil || with == b {
		return with, err
	}
	_, with.epsilon, err = left.on(with).Choose(ctx)
	return with, err
}

// mostProbable returns b with the weight of the prior under which the examples are most
// probable at an ε, or b itself if they are more probable without it, at any.
func (l *LeaveOut) mostProbable(ctx context.Context, b *Basis, p *Prior, epsilon float64) (*Basis, error) {
	best, least := b, math.Inf(1)
	if b.leavesOut() {
		trials, _, err := l.on(b).Choose(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range trials {
			least = min(least, t.NLL)
		}
	}
	for _, weight := range weights() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		with, err := b.With(p, weight)
		if err != nil {
			return nil, err
		}
		t, err := l.on(with).try(epsilon)
		if err != nil {
			return nil, err
		}
		if t.NLL < least {
			best, least = with, t.NLL
		}
	}
	return best, nil
}

// weights returns the weights of a prior to try by leaving out.
func weights() []float64 { return []float64{30, 100, 300, 1000, 3000} }

// PriorWeight returns the weight of the prior, 0 without one.
func (b *Basis) PriorWeight() float64 { return b.weight }

// PriorEpsilon returns the ε that goes with the prior: the one under which examples
// that are left out are most probable or, where none can be, that of the prior; 0
// without a prior.
func (b *Basis) PriorEpsilon() float64 { return b.epsilon }

// Within returns S (d×d) of a session of statistics, which the caller must not change; zeros if
// every class has one example.
func (b *Basis) Within() blas64.General { return b.within }
