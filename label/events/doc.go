// Package events labels photos that one camera took within a short time together, because
// they mostly show one class.
//
// [Group] finds the events by time and camera. A [Fit] over all rows then joins what the
// photos of each event tell:
//
//	log p(c | event) = (1 + (n − 1)·a) log p̄(c) + const,  p̄(c) = 1/n Σ_i p(c | x_i),  a = J/(J + k).
//
// J is by how much the n photos differ, H(p̄) − 1/n Σ_i H(p(· | x_i)). Photos that agree may show
// the same thing in the same way, so that each further one tells little; where they differ,
// as bad photos do, each has errors of its own, and tells more. k is fitted when a model is
// trained (calibration.Calibration.Added is 1/(1 + k)), to groups of like examples that are
// held out whole; a model without it takes the mean, a = 0. The mean is that of probabilities
// and not of their logarithms, because some photos of an event show nothing that can be
// recognised, and one of those must not veto what the others show (docs/results/events.md).
//
// An event starts with the one class that its photos show best. Another one is added while
// the photos that contradict the classes so far say so, in the mean, by more evidence than
// log((C−1)/ρ): a share ρ of events shows another class, any of C−1. What a person decided
// about a photo is evidence of ten thousand to one, at full weight, and a class of the event
// from the start.
package events
