package moments

import "context"

// A Learner is a head that can learn from statistics instead of examples.
type Learner interface {
	// TakesUnit reports whether the statistics must be those of examples scaled
	// to length 1; otherwise they are those of the examples as they are.
	TakesUnit() bool
	// LearnMoments learns one session: stats[i] are those of classes[i], with
	// distinct names and at least one example each. The result equals learning
	// the examples, except that settings that only examples can choose get their
	// defaults, which the head records. On error the head is unchanged; it keeps
	// no reference to stats.
	LearnMoments(ctx context.Context, classes []string, stats []*Moments) error
}

// A Keeper is a head that keeps the exact statistics of its classes.
type Keeper interface {
	// Moments returns the statistics of a class, nil if they are missing. The caller
	// must not change them.
	Moments(class string) *Moments
}
