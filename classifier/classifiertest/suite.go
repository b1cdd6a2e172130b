package classifiertest

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// A Factory creates the heads under test.
type Factory struct {
	// New returns an unfitted head.
	New func() (classifier.Learner, error)
	// Load loads what a head's Save returned.
	Load func(classifier.State) (classifier.Learner, error)
	// OrderFree means that learning in one session or in several gives the same
	// head.
	OrderFree bool
	// Ordered means that the head learns example by example, so that their order
	// within a session matters.
	Ordered bool
	// FixedBase means that classes of the base session accept no more examples
	// and cannot be forgotten: both are errors that wrap ErrUnsupported.
	FixedBase bool
	// Absolute means that a setting, such as a variance, has the unit of the
	// embeddings.
	Absolute bool
	// Tolerance bounds the difference in log-probability (nats) of heads that are
	// equal except for rounding; 0 means 1e-8.
	Tolerance float64
}

// Run runs the whole contract, except for what a head does not support (if it
// is not a Forgetter, for example). Short runs look for races: they do each
// operation of a head at least once, cancel it, and score from many goroutines.
func Run(t *testing.T, f Factory) {
	if f.Tolerance == 0 {
		f.Tolerance = 1e-8
	}
	short := []string{"score equals parts", "cancelled base session", "cancelled products", "forget samples",
		"learn after load", "concurrency", "number of cores"}
	for _, c := range []struct {
		name  string
		check func(*testing.T, Factory)
	}{
		{"unfitted", checkUnfitted},
		{"columns", checkColumns},
		{"distribution", checkDistribution},
		{"strides", checkStrides},
		{"batches", checkBatches},
		{"score equals parts", checkScore},
		{"permuted examples", checkPermutation},
		{"sessions", checkSessions},
		{"failed learn", checkFailedLearn},
		{"cancelled base session", checkCancelledBase},
		{"cancelled products", checkCancelledProducts},
		{"bad queries", checkBadQueries},
		{"no reference kept", checkNoReference},
		{"forget and relearn", checkForget},
		{"forget samples", checkForgetSamples},
		{"rename", checkRename},
		{"clone", checkClone},
		{"forget the last class", checkForgetAll},
		{"fixed base", checkFixedBase},
		{"degenerate data", checkDegenerate},
		{"save and load", checkSaveLoad},
		{"learn after load", checkLearnAfterLoad},
		{"damaged state", checkDamagedState},
		{"concurrency", checkConcurrency},
		{"novelty", checkNovelty},
		{"novelty head", checkGuided},
		{"frame", checkFrame},
		{"number of cores", checkCores},
		{"linear", checkLinear},
		{"export", checkExport},
	} {
		if !testing.Short() || slices.Contains(short, c.name) {
			t.Run(c.name, func(t *testing.T) { c.check(t, f) })
		}
	}
}
