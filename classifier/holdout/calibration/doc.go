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
//	                 learned from a few, and the temperature of base classes alone
//	                 from that with later ones. Later sessions do not change them.
//	Simulated        when most classes have a single example, and nothing can be
//	                 left out. The temperature is fitted to simulated second
//	                 examples; there is no threshold and no expected accuracy.
//
// Like examples. LeftOut holds examples out one by one, and again with groups of like ones
// whole (package holdout). If that makes a quarter more errors, and more by two standard errors,
// photos of one occasion have given each other away: temperature, confusions and the
// comparison of methods are then those of the groups (Elsewhere is their accuracy). The
// accuracy of single examples, and the thresholds, are for photos like those learned.
// PseudoSessions hold out photos of one occasion together, where photos tell when they were
// taken; similarity tells nothing in large classes of few dimensions. If most classes were
// photographed on one occasion each, no other can be held out (Once).
//
// Leaving out. A left-out example x is compared with the mean μ of the m examples
// that are left of its class; a new one will be with the mean of all n > m, and
// is closer to it. The covariance of the difference between an example and the
// mean of m others is (1+1/m)Σ. The head is therefore asked about
//
//	x' = μ + s(x−μ),  s² = (1+1/n)/(1+1/m),
//
// with m and n in groups where these are held out,
// whose difference from μ has the covariance that a new example's has from the
// mean of n; for n = 2, s² = 3/4. If a single example is left (m = 1), a Doubting
// head does a part of this itself: it expects x at a distance² of 1+v(1) from the mean,
// in units of the variance within classes, and a new example at 1+v(n), v being the
// variance of its estimate of the mean; s² is then larger by the ratio of these. With m ≥ 2
// the ratio is near 1, and the fewer examples in the covariance make up for it.
// This serves every head, whatever its scores are. Temperature and expected accuracy are those of x'. So is the novelty
// if x'
// is named correctly; otherwise another class is nearest, which has all of its
// examples, and the novelty is that of x.
//
// The classes of a Counting head should be equally large: its prior for a class
// grows with its examples, so that a left-out example loses to rivals that have
// all of theirs. One example of every class is left out at a time.
//
// New classes. LeftOut also leaves out whole classes, in ten parts, and PseudoSessions asks
// about later classes before they are learned: the novelty of these examples beside that of
// known ones gives the probability that an example is of no known class (Unseen).
//
// Simulated examples. x' = m + ρ(x−m) + √(1−ρ²) e, where x is the only example
// of a class, m the mean of all examples and e a random combination of the
// others, with their covariance: two photos of a class are taken to be
// correlated by ρ = 1/3. Only that number is assumed; the scale of the scores is
// the head's own. docs/decisions/calibration.md has what it gives on five data
// sets.
package calibration
