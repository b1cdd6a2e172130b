// Package calibration finds out, from held-out examples, what a head's
// probabilities and novelty scores are worth: a temperature for the former
// (package temperature), a threshold for the latter, and the accuracy to expect.
// How examples are held out depends on what has been learned:
//
//	LeftOut          folds over everything learned so far, when no class of the
//	                 base session has more than MaxPerClass examples, or there
//	                 are too few classes for pseudo-sessions. Fresh heads learn
//	                 all sessions again without the fold, so that it is missing
//	                 from everything that was estimated.
//	PseudoSessions   episodes inside a large base session (package episodes),
//	                 which tell classes learned from many examples from those
//	                 learned from a few. Later sessions do not change them.
//	Simulated        when most classes have a single example, and nothing can be
//	                 left out. The temperature is fitted to simulated second
//	                 examples; there is no threshold and no expected accuracy.
//
// Leaving out. A left-out example competes with rivals that have all of their n
// examples, while its own class has n−1. For a class mean of n examples, the
// variance of the difference between an example and the mean is σ²(1+1/n), so
// the temperature of left-out examples is too high by (1+1/(n−1))/(1+1/n) =
// n²/(n²−1), and is divided by that, averaged over the examples.
// The expected accuracy is that of left-out examples carried from n−1 to n
// examples along a learning curve: the error falls as n^−0.2.
//
// Simulated examples. x' = m + ρ(x−m) + √(1−ρ²) e, where x is the only example
// of a class, m the mean of all examples and e a random combination of the
// others, with their covariance: two photos of a class are taken to be
// correlated by ρ = 1/3. Only that number is assumed; the scale of the scores is
// the head's own. docs/decisions/calibration.md has what it gives on five data
// sets.
package calibration
