package classifier

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// This file has what some heads can do and others cannot: a caller asks by a type
// assertion. An ability whose signature needs a type of a building block is next to
// that type: moments.Learner and moments.Keeper, gauss.PriorUser, gauss.Spacer and
// gauss.Adaptable.

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

// UseBackend passes m to a head that is a BackendUser.
func UseBackend(head Head, m linalg.Backend) {
	if u, ok := head.(BackendUser); ok {
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
	// the base session sets. The novelty is that score less the largest of the classes.
	Unseen() (w []float64, b float64, err error)
}

// An Exporter exports what it computes as an ONNX graph.
type Exporter interface {
	// Export adds to g the nodes that turn the tensor x, embeddings (n×d float32,
	// any n), into log-probabilities in nats (n×C float32, columns as in
	// Classes) and into novelties (n×1 float64), and returns the names of these tensors.
	// Probabilities equal Score's to 1e-5. The error wraps ErrNotFitted before the base
	// session.
	Export(g *onnx.Graph, x string) (logProb, novelty string, err error)
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

// A Cloner can be copied.
type Cloner interface {
	// Clone returns a head equal to this one, with the same backend: what one learns
	// or forgets does not reach the other.
	Clone() (Learner, error)
}

// An Expecter can give a class a density before its first example.
type Expecter interface {
	// Expect adds classes that have no examples yet; known classes do not change. The
	// error wraps ErrNotFitted before the base session.
	Expect(classes ...string) error
}

// A Describer tells what it has decided by itself on its base session.
type Describer interface {
	// Describe returns a line for each decision, none before the base session.
	Describe() []Remark
}

// A Remark is one decision of a head.
type Remark struct {
	// Subject is what was decided, a word or two.
	Subject string
	// Text is the decision and its reason.
	Text string
}

// An Unfitter can make unfitted heads that are cheap to fit in pseudo-sessions.
type Unfitter interface {
	// Unfitted returns an unfitted head with the settings of this one; settings
	// chosen on the base session are fixed to the values that this head chose.
	Unfitted() (Learner, error)
}

// A Guided head's novelty is that of another head, which takes less time to fit.
type Guided interface {
	// NoveltyHead returns an unfitted head that will have the novelty of this unfitted one,
	// but for rounding, once both have learned the same; nil if there is none.
	NoveltyHead() Learner
}

// A Slow head takes minutes to fit. It is calibrated in fewer folds.
type Slow interface{ Slow() }

// A Counting head may prefer classes of more examples. If it does, a fold of its
// calibration has one of every class, so that a left-out example has no larger
// rivals.
type Counting interface{ Counting() bool }

// A Doubting head allows for what it does not know of class means.
type Doubting interface {
	// Spread returns the variance that the head expects between an example and its
	// estimate of the mean from n others, in units of that within classes: 1 if it
	// takes means as certain.
	Spread(n int) float64
}

// A Comparing head's novelty allows for what it does not know of class means, so that it
// is that of left-out examples as they are.
type Comparing interface{ Comparing() }

// A Hierarchical head arranges its classes in a tree.
type Hierarchical interface {
	// Hierarchy returns the tree, the zero Branch before the base session.
	Hierarchy() Branch
}

// A Checkpointer trains for long and can resume where it was stopped. Without a
// checkpoint it trains silently and from the beginning. The result does not
// depend on the checkpoint.
type Checkpointer interface {
	// UseCheckpoint sets the checkpoint of all later training. It is not safe for
	// concurrent use with other methods.
	UseCheckpoint(Checkpoint)
}

// UseCheckpoint passes c to a head that is a Checkpointer.
func UseCheckpoint(head Head, c Checkpoint) {
	if u, ok := head.(Checkpointer); ok {
		u.UseCheckpoint(c)
	}
}
