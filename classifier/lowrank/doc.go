// Package lowrank holds Gaussians whose covariance is a few principal
// components and a multiple of the identity, N(μ, L·D·Lᵀ + λI), and everything
// that is done with many of them: densities, divergences, and the Gaussian of
// a mixture. No d×d matrix is formed where the components are few.
//
// Sources: Tipping and Bishop 1999; Wang, "Incremental and Hierarchical
// Probabilistic PCA", 2023, chapters 2 and 4, whose equation numbers stand at
// the steps.
//
//	symbol  field   shape  meaning
//	μ       Mean    d      mean
//	D       Values  q      variances beyond λ along the components, descending
//	L       Basis   q×d    the components, orthonormal rows, float32
//	λ       Lambda  1      variance everywhere
//
// Costs, in multiply-adds: densities of K Gaussians O(Kqd) a row, the KL
// divergences of K Gaussians from S others O(KSqrd), the Bhattacharyya
// distances of K Gaussians from one O(K(q²d + q³)), the Gaussian of a mixture
// of K O(Kqd²), or O((Kq)²d) where K(q+1) ≤ d.
//
// Products are float32, sums of them float64. Divergences serve to compare
// and to sample and are good to about 1e−5 relative where D/λ is below 1e4.
//
// A Stack scores: ppca with one stack, hppca with one per super-class. Where the
// squared distance cancels most of its digits, and for the leading Gaussians where
// the float32 error would show in a probability, it is computed again in float64
// from the residual as a vector: r is good to 1e−4, probabilities to 1e−5.
package lowrank
