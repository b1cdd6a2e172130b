// Package temperature makes the probabilities of any head honest with one
// temperature T, fitted by pseudo-sessions inside the base session (package
// pseudo):
//
//	log p_T(c|x) = log-softmax_c  log p(c|x)/T
//
// Source: Guo, Pleiss, Sun and Weinberger 2017, "On Calibration of Modern
// Neural Networks", section 4.2; their validation set is replaced by the
// held-out examples of pseudo-sessions, so that classes learned from a few
// shots count, and nothing but the base session is looked at.
//
//	symbol  field            meaning
//	T       Fit.Temperature  above 1: the head was too sure of itself
//	–       Fit.Before       negative log-likelihood of the held-out examples at T = 1, in nats
//	–       Fit.After        the same at T
//
// The likelihood is the mean over held-out examples of classes with most of
// their examples and that over classes with a few shots, pooled over the splits;
// the latter weighs half of its share of the classes, 0.2, since later sessions
// bring such classes one by one. It is followed on a grid
// of log T from −3 to 6 in steps of 1/8, with a parabola through the least
// point and its neighbours; memory does not grow with examples or classes.
//
// T never changes which class wins, nor the novelty, which is that of the head
// within. It is fitted once, on the base session; later sessions do not change
// it, and forgetting the last class makes the head unfitted again. Where the
// base session is too small for pseudo-sessions T is 1 and Fit.Fallback says
// why.
//
// Cost: the base session learns one head more than once, see HeldOut in package
// pseudo (five splits here); scoring costs C exponentials more an example.
package temperature
