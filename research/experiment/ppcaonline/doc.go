// Package ppcaonline repeats the experiments of Pamplona and Manzanera, "Naturally
// Constrained Online Expectation Maximization", ICPR 2020, with the engine of ppca-online:
//
//	Figure 1  independent examples: log-likelihood of all test data by step
//	Figure 2  one class after the other: the same
//	Figure 3  one class after the other: log-likelihood of every class
//	Figure 4  interference: a class learned after another one, minus the class learned alone
//
// Data (section IV): x = Wz + ε, W the left singular vectors of a matrix of
// uniform values in ±½ (d×q), z standard normal, σ uniform in (0, 1), μ = 0.
// Classes are the Voronoi cells of centroids, which are training points with
// noise added. A seed draws W, σ, the centroids, the examples, their order, and
// the initial parameters.
//
// The paper lists means over five runs. The spread over seeds is about ten
// times the effect, because σ, and hence the likelihood, differs by seed rather
// than by method. The figure to compare is therefore the difference from plain
// online EM on the same seed, with its standard deviation over seeds. β is
// chosen on validation data, for every policy and every form of the R-step,
// from the grid listed in the results; the paper chose it from the same grid by
// the likelihood shown in its figures. The paper gives the class policy a
// smaller γ than plain online EM; here both are run with both values.
//
// Choices that the paper leaves open: every class has the same number of
// examples, Train/Classes; the noise of a centroid is Gaussian with standard
// deviation CentroidNoise; learning starts from μ and W uniform in ±½ and σ² =
// 1; in Figure 4 the step counter continues from the first class to the second,
// as in continual learning, so the second class gets a smaller γ than a class
// learned alone.
//
// Cost: seeds × settings × Train steps of O(dq²), settings being 1 + β × (forms
// of the R-step) × policies, for each γ; Figure 4 takes Classes² times as long.
// A seed is a part.
package ppcaonline
