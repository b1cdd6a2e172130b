// Package dkl measures what deep kernel learning brings on a frozen
// backbone (Achituve et al., "GP-Tree", ICML 2021, §5.2 and 5.3 in shape).
//
// Choosing: every candidate (Config.Candidates, settings of training) is
// trained on the pseudo-base classes of pseudo-sessions inside the base
// session, its pseudo-novel classes never seen in training; a head behind it
// learns both. The candidate with the largest mean of base and novel accuracy
// over the methods is taken. No test image takes part.
//
// Base (Table 2 in shape): of every base class Config.HeldOut training images are
// held out and the others are learned: a linear softmax on the embeddings, the
// head of phase 1 with its softmax, gptree without a projection, behind one of
// phase 1 alone, and behind one of both phases. Accuracy, negative
// log-likelihood, expected calibration error; no temperature is fitted.
//
// Sessions: the benchmark's sessions with every method, without and behind the
// projection.
//
// Both over Config.Seeds seeds of everything random, with the standard error of
// the mean.
//
//	symbol      field          meaning
//	softmax     –              W x + b on embeddings of length √d: phase 1 without a projection's width
//	phase 1     Setting        cross-entropy only, as many epochs
//	dkl         Setting        both phases
//
// Cost: seeds × (two trainings and the fits); splits × candidates trainings on
// most of the base session. Every training is a part: a run that was stopped
// goes on after the last one.
package dkl
