// Package aligned is a linear classifier for a large base session followed by
// classes of a few examples: multinomial logistic regression in the whitened
// space of plda, aligned with later classes by training on what plda expects of
// them.
//
// Source: classifier alignment on Gaussian features, as in CCVR (Luo et al.
// 2021) and SLCA (Zhang et al. 2023), with the predictive densities of the
// two-covariance model (package plda) in place of fitted Gaussians.
//
//	symbol  field             shape  meaning
//	z       gauss.Space       d      L⁻¹(x−m₀), embedding of length 1, whitened
//	n, Σx   class.Total       1, d   examples of a class and their sum
//	μ, v    gauss.Density     d, d   mean of the predictive density N(μ, I+v), and variance of that mean
//	w, b    class.logit       d+1    the class's row of the classifier
//	s       Config.BaseShare  1      share of the images expected to show base classes
//
//	log p(c|x) = log-softmax(w_c·z + b_c + log π_c)
//
// π is uniform, or s over the C₀ base classes and 1−s over the C₁ later ones.
// It multiplies odds before the temperature of a model does.
//
// Base classes (those of the first session) are trained once, on their examples
// and on their densities, which count as 30 examples of each class. Later classes
// are trained from zero after every change, on the densities of all classes, each
// with the same weight; the rows of base classes stay fixed. A base class need
// not keep its examples for that: a class is (n, Σx) and its row.
//
//	F(W) = mean over classes of E[−log p(c|z)], z ~ N(μ_c, I+v_c)   + λ/2·|W|²,  λ = 0.3/C
//
// The expectation is a mean over fixed points with the mean and the covariance of
// the density: ± a cosine basis with random signs, scaled to length √d, at least
// 512 points. A mean over independent draws would leave sampling noise for the
// classifier to fit. Classes of equally many examples share their points but for
// μ, so that scores are sums and a step costs O(CmK) exponentials for K rows and
// m points, and no product of all C·m points.
//
// L-BFGS takes 20 steps for base classes and 30 for later ones. A base session
// without its examples (more than 4e10 multiplications a step) is trained on the
// densities alone.
//
// Learning more examples of a class changes its density, but not the row of a
// base class. Forgetting is exact given what the base session set; sums are in
// order of name, so that a class that is forgotten and learned again has the
// same row to the last bit. The influence of a forgotten base class on the space
// and on other base classes stays until the last class is forgotten.
//
// Assumption: a later class varies around its mean as the base classes do. More
// examples of it make μ more certain, but its own covariance is never used; with
// hundreds of images of later classes use plda+ or ppca.
//
// Cost: base session O(nd² + d³) for the space and O(nCd + C²m) per step; a later
// session O(CmK + md(K+r)) per step, r = C₀−1. Scoring O(d² + Cd) per row. Memory
// 24d bytes per class.
//
// Deviations from the sources: whole densities instead of draws, a shared
// covariance, and fixed rows of base classes, which alignment would move.
package aligned
