// Package gpr measures what incremental Gaussian process regression gains over
// batch fits: Figs. 1 to 4 of Lütz, Rodner and Denzler 2011, the first on a
// toy in the plane, the others on embeddings.
//
//	figure  settings                   what
//	1       Grid                       scores of every class in the plane, as examples of an old class
//	                                   and then of a new one arrive
//	2       N, K, Repeats              time to add k examples to n: iterative and direct Woodbury updates,
//	                                   a growing Cholesky factor, and a batch fit of n+k
//	3       Classes, Examples          accuracy on all classes as they arrive one by one
//	4       Classes, Start, Step, Steps   accuracy on all classes as examples of each arrive
//
// The batch fit is our fastest: kernel matrix, Cholesky factor and weights, on
// the same kernels. Every time is the median of Repeats. Small k are timed over
// several consecutive additions (up to 33 examples), so that the work deferred
// by Woodbury updates is included. Times depend on the machine and are the only
// results that differ from run to run. Images are drawn by seed, for Figs. 3
// and 4 again in each of Runs, from classes that have enough of them.
//
// The paper does not say how the toy of Fig. 1 was drawn: ours has three classes
// of round clusters, the first of two. It needs no feature folder.
//
// Figs. 3 and 4 use the head gpr (classifier.gpr, with its caps raised as far
// as the figure needs) and ncm, and compare every step with a head that learned
// everything so far at once.
//
// Cost at the defaults: n = 4000 with k = 1000 iterative updates takes some
// minutes; memory is three times 4(n+k)² bytes. Every n, and every run of Figs.
// 3 and 4, is saved when it is finished.
package gpr
