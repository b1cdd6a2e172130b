// Package temperature calibrates the probabilities of any head with one
// temperature T, fitted in episodes inside the base session (package episodes):
//
//	log p_T(c|x) = log-softmax_c  log p(c|x)/T
//
// Source: Guo, Pleiss, Sun and Weinberger 2017, "On Calibration of Modern
// Neural Networks", section 4.2. The held-out examples of episodes replace
// their validation set, so that classes learned from a few shots count, and
// only the base session is used.
//
//	symbol  field         meaning
//	T       Value.T       above 1: the head was overconfident
//	–       Value.Before  negative log-likelihood of the held-out examples at T = 1, in nats
//	–       Value.After   the same at T
//
// The likelihood is a weighted mean of two: that of held-out examples of
// classes learned from most of their examples, and that of classes learned from
// a few shots, both pooled over the splits. The weight of the second, 0.2, is
// half of its share of the classes, because later sessions add such classes one
// by one. It is computed on a grid of log T from −3 to 6 in steps of 1/8, and a
// parabola goes through the lowest point and its neighbours; memory does not
// grow with examples or classes.
//
// T changes neither which class wins nor the novelty. model.Predictor fits it
// once, on the base session: later sessions do not change it, and forgetting
// the last class discards it. If the base session is too small for episodes, T
// is 1 and Value.Fallback gives the reason.
//
// Cost: five more fits on most of the base session (episodes.HeldOut); scoring
// costs C more exponentials per example.
package temperature
