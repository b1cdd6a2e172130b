// Package gpr measures what incremental Gaussian process regression
// gains: Figs. 2 to 4 of Lütz, Rodner and Denzler 2011, on embeddings.
//
//	figure  settings                   what
//	2       N, K, Repeats              time to add k examples to n: iterative and direct Woodbury updates, a Cholesky factor that grows, and a batch fit of n+k
//	3       Classes, Examples          accuracy on all classes as they arrive one by one
//	4       Classes, Start, Step, Steps   accuracy on all classes as examples of each arrive
//
// The batch fit is our own fastest: kernel matrix, Cholesky factor and
// weights, on the same kernels. Every time is the median of Repeats, and of as
// many additions in a row (up to 33 examples) as the work that Woodbury updates
// defer takes. Times depend on the machine and are the only results that differ
// from run to run. Images are drawn by seed, those of Figs. 3 and 4 again for
// each of Runs, from classes that have enough of them.
//
// Figs. 3 and 4 use the head gpr (classifier.gpr, its caps raised to what the
// figure needs) and ncm, and compare every step with a head that
// learned everything at once.
//
// Cost at the defaults: n = 4000 with k = 1000 iterative updates is some
// minutes; memory 4(n+k)² bytes, three times. Every n, and every run of Figs. 3
// and 4, is kept when it is finished.
package gpr
