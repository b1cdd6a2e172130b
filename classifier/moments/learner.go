package moments

import "context"

// A Learner is a head that can learn from statistics instead of examples.
type Learner interface {
	// TakesUnit says whether the statistics must be those of examples scaled
	// to length 1, or of examples as they are.
	TakesUnit() bool
	// LearnMoments takes one session: stats[i] are those of classes[i], names
	// distinct and none without examples. The result is that of learning the
	// examples, but for what only examples can choose: that is the default,
	// and the head records it. On error the head is unchanged; it keeps no
	// reference to stats.
	LearnMoments(ctx context.Context, classes []string, stats []*Moments) error
}
