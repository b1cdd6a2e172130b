// Package plda is the two-covariance model (PLDA): all classes share one
// within-class covariance W, and class means are themselves drawn from a
// Gaussian with covariance B, so that the mean of a class seen only a few
// times is known to be uncertain. It learns a class from one example.
//
// Source: Brümmer and de Villiers 2010 and Ioffe 2006, with the shrinkage
// below; it is the limit of infinitely strong pooling of PPCA class models
// whose means are uncertain.
//
//	symbol  field       shape  meaning
//	m₀      Origin      d      mean of the base class means
//	W       –           d×d    (1−ε)·S + ε·tr(S)/d·I, S pooled within the base classes, divisor Σ(n−1)
//	L⁻¹     Whiten      d×d    W = L·Lᵀ
//	V       Directions  r×d    eigenvectors of the covariance of the whitened means, divisor C−1
//	β       Beta, Rest  r, 1   between-class variances along V, β₀ (floor) elsewhere
//	n, Σx   class.Total 1, d   examples of a class and their sum, of length 1 each
//
// (fields of gauss.Space, which is where the family of this head is described).
//
// Embeddings are scaled to length 1. With b the eigenvalues belonging to V,
// zero in the d−r other directions, β = max(b − mean(1/n), 1e−6), then half of
// it and half of its mean over all d directions. A class of n examples with
// mean m̄ has, in whitened coordinates z = L⁻¹(x−m₀),
//
//	μ = β/(β+1/n)·L⁻¹(m̄−m₀),   v = β/(1+nβ)
//	log p(x|c) = −½ Σ (z−μ)²/(1+v) − ½ Σ log(1+v)   (+ a constant)
//
// B has rank r ≤ C−1, so V comes from a C×C Gram matrix; the other directions
// share one β₀ and one v₀, and need only the length of what is left of z outside
// V and one dot product: exact, with no d×d eigenvectors.
//
// ε may be left to pseudo-sessions inside the base session (Config.Epsilon 0,
// package episodes): the best of seven values from 0.02 to 0.7, or 0.3 where the
// session is too small to tell. The choice and the scores are saved with the
// head (setting epsilon_choice) and stay until the last class is forgotten.
//
// Config.Certain makes it linear discriminant analysis (LDA), the limit of
// known class means: μ = L⁻¹(m̄−m₀), v = 0, and ε = d/(N−1+d) for the N
// examples of the base session, which is the usual shrinkage
// Σ' = ((N−1)S + tr(S)·I)/(N−1+d) up to scale. A new class adds its mean only.
//
// W, B and m₀ are frozen after the base session; a class is (n, Σx) alone.
// Learning and forgetting classes and examples is exact given them; what they
// themselves owe to a forgotten base class stays until the last class is
// forgotten, which makes the head unfitted.
//
// Little data is defined: where no base class has two different examples, W is
// a multiple of I with the spread of the class means; with one base class nothing
// is known of B and β = 1, as much between classes as within. d > n is the
// shrinkage's business (ε > 0).
//
// Cost: base O(nd² + d³), afterwards O(d²) a class; scoring O(d²) an example
// for the whitening and O(d) a class. Float64 throughout.
package plda
