package classifier

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
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

// A Forgetter can remove a whole class. What classes share was estimated from the
// base session and stays as it is, here and in SampleForgetter; model.Model forgets
// that too.
type Forgetter interface {
	// Forget removes a class; the error wraps ErrUnknownClass if the head does
	// not have it.
	Forget(class string) error
}

// A SampleForgetter can remove single examples, exactly: except for what classes
// share, the result equals a learner that never saw them.
type SampleForgetter interface {
	// ForgetSamples removes row i of x (n×d) from class y[i]; a class that
	// loses its last example vanishes. On error the learner is unchanged.
	ForgetSamples(x blas32.General, y []string) error
}

// A Renamer can change what classes are called.
type Renamer interface {
	// Rename gives a class another name, and keeps its column: the result equals a
	// learner that learned it by that name. If there is a class of that name, the two
	// become one, in its column, exactly except for what classes share. The error
	// wraps ErrUnknownClass if there is no such class.
	Rename(class, to string) error
	// Joins reports whether two classes can become one; if not, Rename refuses that
	// with an error that wraps ErrUnsupported.
	Joins() bool
}

// A Refresher holds something that goes out of date as classes are learned and
// forgotten, and can rebuild it.
type Refresher interface {
	// Refresh brings everything up to date with the current classes. On error the
	// learner is unchanged.
	Refresh(ctx context.Context) error
}

// A BackendUser computes large products with a backend that the caller chooses.
// The default is gonum.
type BackendUser interface {
	// UseBackend sets the backend for everything from now on. It is not safe for
	// concurrent use with other methods.
	UseBackend(linalg.Backend)
}

// UseBackend passes m to a head that is a BackendUser; nil leaves the head's
// backend as it is.
func UseBackend(head Head, m linalg.Backend) {
	if u, ok := head.(BackendUser); ok && m != nil {
		u.UseBackend(m)
	}
}

// A Linear head's scores are linear in features of an embedding that only the base
// session sets. So a caller that stores the features of many rows scores a class
// that has changed by one product, instead of all rows from the start.
type Linear interface {
	// Features returns φ(x) of the rows of x (n×d → n×p).
	Features(x blas32.General) (blas64.General, error)
	// Weights returns w (one row of p per column) and b: the score of a class is
	// b + w·φ(x). Score gives the log-softmax of the scores of all classes.
	Weights(columns []int) (w blas64.General, b []float64, err error)
	// Unseen returns w and b of the score of a class that has not been seen, which only
	// the base session sets. The novelty is that score less the largest of the classes;
	// w is nil, and the score 0, in a head of version 0.1.
	Unseen() (w []float64, b float64, err error)
}

// An Exporter exports what it computes as an ONNX graph.
type Exporter interface {
	// Export adds to g the nodes that turn the tensor x, embeddings (n×d float32,
	// any n), into log-probabilities in nats (n×C float32, columns as in
	// Classes), and returns the name of that tensor. The probabilities equal
	// Score's to 1e-5. The error wraps ErrNotFitted before the base session.
	Export(g *onnx.Graph, x string) (string, error)
}

// A Varier reports how uncertain it is about an embedding, whatever the class.
type Varier interface {
	// Variance writes the predictive variance of each row of x (n×d) into dst
	// (n), in squared units of the score that the head predicts, or as a share of
	// the prior variance.
	Variance(dst []float64, x blas32.General) error
}

// A Saver saves itself as named tensors and settings. Its package has a
// matching Load.
type Saver interface {
	Save() (State, error)
}

// A StatisticsKeeper has exact training statistics that are too large for the
// model file and live in a side file; without them its classes cannot gain or
// lose examples.
type StatisticsKeeper interface {
	// Statistics returns what the side file holds.
	Statistics() (State, error)
	// RestoreStatistics restores what Statistics returned.
	RestoreStatistics(State) error
}
