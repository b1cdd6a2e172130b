// Package events labels photos that one camera took within a short time together, because
// they mostly show one class.
//
// [Group] finds the events by time and camera. A [Fit] over all rows then joins what the
// photos of each event tell: with uniform priors,
//
//	log p(c | event) = Σ_i w log p(c | x_i) + const.
//
// Photos of one event are alike, so that two of them tell less than two of different
// events: w is at most 1. It is fitted when a model is trained
// (calibration.Calibration.Shared), to groups of like examples that are held out whole; a
// model without it has w = 1/n, the mean. The n photos together never count less than
// one: w is at least 1/n.
//
// An event starts with the one class that its photos show best. Another one is added while
// the photos that contradict the classes so far say so by more evidence than
// log((C−1)/ρ): a share ρ of events shows another class, any of C−1. What a person decided
// about a photo is evidence of ten thousand to one, at full weight, and a class of the event
// from the start.
package events
