// Package temperature calibrates the probabilities of any head with one
// temperature T, fitted to the head's answers for held-out examples (package
// calibration):
//
//	log p_T(c|x) = log-softmax_c  log p(c|x)/T
//
// Source: Guo, Pleiss, Sun and Weinberger 2017, "On Calibration of Modern
// Neural Networks", section 4.2; the smoothing of labels is Platt's (1999).
//
//	symbol  field         meaning
//	T       Value.T       above 1: the head was overconfident
//	–       Value.Alone   T while there are base classes alone (pseudo-sessions)
//	–       Value.Later   T with as many later classes as pseudo-sessions have
//	ε       Value.Wrong   share of the labels that is wrong
//	–       Value.Before  negative log-likelihood of the held-out examples at T = 1, in nats
//	–       Value.After   the same at its minimum
//	–       Value.ECE     expected calibration error there
//
// A few labels of most people's sets are wrong. T is to suit the true classes, but one held-out
// example that is surely of another class than its label says weighs as much as hundreds of
// others, and makes T too high. If a share ε of the labels is wrong, each other class being as
// likely, a label y has the probability (package labelnoise)
//
//	(1−ε) p_T(y|x) + ε (1−p_T(y|x))/(C−1)
//
// ε is the most likely of none, ½ %, 1 %, 2 %, … 32 % (Wrong). Package calibration takes it from
// photos that were held out one by one, since those of another occasion are mistaken without a
// wrong label, and from heads that know all classes, since others doubt a wrongly labelled one.
// Photos of classes that a head has learned from few images do not count beside others.
//
// The likelihood is computed on a grid of log T from −3 to 6 in steps of 1/8;
// memory does not grow with examples or classes. T changes neither which class
// wins nor the novelty. Without a usable likelihood T is 1 and Value.Fallback
// gives the reason. Scoring costs C more exponentials per example.
package temperature
