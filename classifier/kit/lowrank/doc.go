// Package lowrank holds Gaussians whose covariance is a few principal
// components plus a multiple of the identity, N(μ, L·D·Lᵀ + λI), and operations
// on many of them: densities, divergences, and the Gaussian of a mixture. No
// d×d matrix is formed if there are few components.
//
// Sources: Tipping and Bishop 1999; Wang, "Incremental and Hierarchical
// Probabilistic PCA", 2023, chapters 2 and 4. Its equation numbers are given at
// the steps.
//
//	symbol  field   shape  meaning
//	μ       Mean    d      mean
//	D       Values  q      variances beyond λ along the components, descending
//	L       Basis   q×d    the components, orthonormal rows, float32
//	λ       Lambda  1      variance everywhere
//
// Costs, in multiply-adds: densities of K Gaussians O(Kqd) per row, the KL
// divergences of K Gaussians from S others O(KSqrd), the Bhattacharyya
// distances of K Gaussians from one O(K(q²d + q³)), the Gaussian of a mixture
// of K O(Kqd²), or O((Kq)²d) where K(q+1) ≤ d.
//
// Products are float32. Their sums are float64, except in a Stack with mode
// Fast, which is ppca's; hppca's are float64. Divergences are used to compare and
// to sample; they are accurate to about 1e−5 relative if D/λ is below 1e4.
//
// A Stack scores: ppca has one stack, hppca one per super-class. Where the
// squared distance loses most of its digits, and for the leading Gaussians
// where the float32 error would affect a probability, it is recomputed in
// float64 from the residual as a vector: r is accurate to 1e−4, probabilities
// to 1e−5.
package lowrank
