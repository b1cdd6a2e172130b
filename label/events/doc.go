// Package events labels photos that one camera took within a short time together, because
// they mostly show one class.
//
// [Group] finds the events by time and camera. A [Fit] over all rows then joins what the
// photos of each event tell:
//
//	log p(c | event) = Σ_i w log p̄(c) + const,  p̄(c) = 1/n Σ_i p(c | x_i),  w = (1 + (n − 1)·a)/n.
//
// Photos of one event are alike, so that two of them tell less than two of different
// events: a, between 0 and 1, is how much each further one adds. It is fitted when a model
// is trained (calibration.Calibration.Added), to groups of like examples that are held out
// whole; a model without it has a = 0, the mean. The mean is that of probabilities and not
// of their logarithms, because some photos of an event show nothing that can be recognised,
// and one of those must not veto what the others show (docs/results/events.md).
//
// An event starts with the one class that its photos show best. Another one is added while
// the photos that contradict the classes so far say so by more evidence than
// log((C−1)/ρ): a share ρ of events shows another class, any of C−1. What a person decided
// about a photo is evidence of ten thousand to one, at full weight, and a class of the event
// from the start.
package events
