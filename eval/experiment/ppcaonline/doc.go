// Package ppcaonline repeats the experiments of Pamplona and Manzanera, "Naturally
// Constrained Online Expectation Maximization", ICPR 2020, with package oem:
//
//	Figure 1  independent examples: log-likelihood of all test data by step
//	Figure 2  one class after the other: the same
//	Figure 3  one class after the other: log-likelihood of every class
//	Figure 4  interference: a class learned after another one, less learned alone
//
// Data (section IV): x = Wz + ε, W the left singular vectors of a matrix of
// uniform values in ±½ (d×q), z standard normal, σ uniform in (0, 1), μ = 0.
// The classes are the cells of as many centroids, training points with noise
// added. A seed draws W, σ, the centroids, the examples, the order in which
// they come, and the parameters that learning starts from.
//
// The paper lists means over five runs. The spread over seeds is some ten times
// the effect, because σ and so the likelihood differs by seed, not by method:
// what counts here is the difference to plain online EM on the same seed, with
// its standard deviation over seeds. β is chosen on validation data, for every
// policy and every form of the R-step, from the grid that the results list; the
// paper chose it from the same grid by the likelihood that its figures show. It
// gives the class policy a smaller γ than plain online EM: both are run with
// both.
//
// What the paper leaves open, and what is done here: every class has the same
// number of examples, Train/Classes; the noise of a centroid is Gaussian with
// the standard deviation CentroidNoise; learning starts from μ, W uniform in ±½
// and σ² = 1; in Figure 4 the number of the step goes on from the first class
// to the second, as it does in a life, so that the second meets a smaller γ
// than a class that is learned alone.
//
// Cost: seeds × settings × Train steps of O(dq²), settings being 1 + β × (forms
// of the R-step) × policies, for each γ; Figure 4 that times Classes². A seed
// is a part.
package ppcaonline
