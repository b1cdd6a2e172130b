// Package plda is the two-covariance model (PLDA): all classes share one
// within-class covariance W, and class means are themselves drawn from a
// Gaussian with covariance B, so that the mean of a class seen only a few
// times is known to be uncertain. It learns a class from one example.
//
// Source: Brümmer and de Villiers 2010 and Ioffe 2006, with the shrinkage
// below; it is the limit of PPCA class models with uncertain means as pooling
// becomes infinitely strong.
//
//	symbol  field       shape  meaning
//	m₀      Origin      d      mean of the base class means
//	W       –           d×d    (1−ε)·S + ε·tr(S)/d·I, S pooled within the base classes, divisor Σ(n−1)
//	L⁻¹     Whiten      d×d    W = L·Lᵀ
//	V       Directions  r×d    eigenvectors of the covariance of the whitened means, divisor C−1
//	β       Beta, Rest  r, 1   between-class variances along V, β₀ (floor) elsewhere
//	n, Σx   class.Total 1, d   examples of a class and their sum, each of length 1
//
// (The fields are those of gauss.Space; package gauss describes the whole
// family.)
//
// Embeddings are scaled to length 1. With b the eigenvalues belonging to V,
// zero in the d−r other directions, β = max(b − mean(1/n), 1e−6), averaged with
// its mean over all d directions. A class of n examples with mean m̄ has, in
// whitened coordinates z = L⁻¹(x−m₀),
//
//	μ = f·β/(β+1/n)·L⁻¹(m̄−m₀),   v = β/(1+nβ)
//	log p(x|c) = −½ Σ (z−μ)²/(1+v) − ½ Σ log(1+v)   (+ a constant)
//
// where f, with η = ½, moves the length of the mean half-way to the expected one (package
// gauss). With η = 0 (Config.MeanLength) f is 1: the two-covariance model itself.
//
// A class that has not been seen has n = 0, which is μ = 0 and v = β. The novelty is
// log p(x|new) − max log p(x|c): how unusual the photo is as such cancels.
//
// B has rank r ≤ C−1, so V comes from a C×C Gram matrix; the other directions
// share one β₀ and one v₀, and need only the length of the part of z outside V
// and one dot product: exact, with no d×d eigenvectors.
//
// With Config.LeaveOut and ε = 0.3, the defaults, a base session of few examples
// chooses ε. If no class has more than 20, some 200 of them are left out, one at a time, of S
// and of the mean of their class, in closed form (gauss.LeaveOut): ε falls from 1
// to 0.95, 0.9, 0.7, 0.5 and 0.3 while their likelihood, at its best temperature, gets
// worse by no more than 0.5 %. Where Σ(n−1) is less than the number of classes, it is 0.7; with
// larger classes it stays 0.3.
//
// A prior (UsePrior) is a covariance P within the classes of other data sets. S is
// then (D·S + ν·P)/(D + ν) with D = Σ(n−1), and is shrunk towards mostly the
// diagonal of P (gauss.Basis.With) instead of I; of 0 (no prior), 30, 100, 300, 1000
// and 3000 the ν is taken under which left-out examples are most probable, and 300 where
// none are left out. Where Σ(n−1) is less than the number of classes, ε is that of the
// prior, which was chosen among its own classes (package model/prior).
//
// Otherwise pseudo-sessions inside the base session may choose (Config.Epsilon 0,
// package episodes): the best of seven values from 0.02 to 0.7, or 0.3 if the
// session is too small to tell.
//
// The choice and the scores are saved with the head (setting epsilon_choice) and
// stay until the last class is forgotten.
//
// Config.Certain makes it linear discriminant analysis (LDA), the limit of
// known class means: μ = L⁻¹(m̄−m₀), v = 0, and ε = d/(N−1+d) for the N
// examples of the base session, which is the usual shrinkage
// Σ' = ((N−1)S + tr(S)·I)/(N−1+d) up to scale. A new class adds its mean only.
//
// W, B and m₀ are frozen after the base session; a class is just (n, Σx). Given
// these, learning and forgetting classes and examples is exact; the influence
// of a forgotten base class on them stays until the last class is forgotten,
// which makes the head unfitted.
//
// Small data is well defined: where too few base classes have two different
// examples, part of W and β is guessed from the total covariance (package gauss),
// all of it with one example per class; with one base class nothing is known
// about B and β = 1, as much variance between classes as within. The shrinkage
// (ε > 0) handles d > n.
//
// Cost: base session O(nd² + d³), later O(d²) per class; scoring O(d²) per
// example for the whitening and O(d) per class. Everything is float64.
package plda
