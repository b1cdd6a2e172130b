// Package dkl measures what deep kernel learning gains on a frozen backbone
// (Achituve et al., "GP-Tree", ICML 2021, §5.2 and 5.3 in shape).
//
// Choosing: every candidate (Config.Candidates, settings of training) is
// trained on the pseudo-base classes of pseudo-sessions inside the base session
// and never sees their pseudo-novel classes; a head behind it learns both. The
// candidate with the largest mean of base and novel accuracy over the methods
// is chosen. No test image is used.
//
// Base (Table 2 in shape): Config.HeldOut training images of every base class
// are held out, and the others are learned by a linear softmax on the
// embeddings, the phase-1 head with its softmax, and gptree without a
// projection, behind a projection trained by phase 1 alone, and behind one
// trained by both phases. Measured are accuracy, negative log-likelihood and
// expected calibration error; no temperature is fitted.
//
// Sessions: the benchmark's sessions with every method, with and without the
// projection.
//
// Base and Sessions are averaged over Config.Seeds seeds of everything random
// and reported with the standard error of the mean.
//
//	symbol      field          meaning
//	softmax     –              W x + b on embeddings of length √d: phase 1 without a projection
//	phase 1     Setting        cross-entropy only, same number of epochs
//	dkl         Setting        both phases
//
// Cost: seeds × (two trainings and the fits); splits × candidates trainings on
// most of the base session. Every training is a part: an interrupted run
// resumes after the last one finished.
package dkl
