package classifier

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Sentinel errors that every head wraps, so that callers can tell them apart
// with errors.Is.
var (
	// ErrNotFitted reports that a head was used before its base session.
	ErrNotFitted = errors.New("not fitted: learn a base session first")
	// ErrUnknownClass reports a class that the head never learned.
	ErrUnknownClass = errors.New("unknown class")
	// ErrUnsupported reports an operation that the method cannot do exactly.
	ErrUnsupported = errors.New("not supported by this method")
	// ErrNoStatistics reports that an operation needs exact statistics that the
	// head does not have.
	ErrNoStatistics = errors.New("the exact statistics are not available")
)

// A Head gives every embedding a proper distribution over its classes, and
// scores how little the embedding resembles anything learned. Its methods are
// safe for concurrent use as long as nobody learns or forgets.
type Head interface {
	// Classes returns the class names in column order. New classes are
	// appended, forgotten ones vanish; the caller must not change the slice.
	Classes() []string
	// Dim returns the embedding dimension d, 0 before the base session.
	Dim() int
	// Score writes log p(class | x) in nats for the n rows of x (n×d) into dst
	// (n×C, columns as in Classes), and the novelty of each row into novelty
	// (n), higher meaning less known; only its order means something across
	// heads. A nil novelty is not computed. The caller owns both.
	Score(dst blas64.General, novelty []float64, x blas32.General) error
}

// A Learner is a Head that learns one session after another.
type Learner interface {
	Head
	// Learn takes one session: row i of x (n×d) is an example of class y[i].
	// The first call is the base session. Later ones may add classes and
	// examples of old classes. On error the learner is unchanged; it keeps no
	// reference to x or y.
	Learn(ctx context.Context, x blas32.General, y []string) error
}
