// Package gauss holds what the closed-form heads with a shared covariance have
// in common: the space that a base session defines, the predictive densities of
// classes in it, and one scorer for all classes.
//
// lda, plda, ppca-eb and plda+ are one family. In whitened coordinates z =
// L⁻¹(x−m₀), a class of n examples with mean m̄ is a Gaussian or Student's t
// around μ = f·βn/(1+βn)·L⁻¹(m̄−m₀) with scale
//
//	C = diag(1−ρ+ρr+v) + ρ·U·diag(w−r)₊·Uᵀ,  v = β/(1+nβ),  ρ = (n−1)/(n−1+ν)
//
// The factor f makes the lengths of class means more alike. With D = diag(1−ρ+ρr+v) and
// μ₀ the mean before, t = (m̄−m₀)ᵀL⁻ᵀD⁻¹μ₀ is the square of a length, and of a class that is
// drawn from the model Σ β/(1−ρ+ρr+v) on average; f = (Σ β/(1−ρ+ρr+v) / t)^(η/2), between ½
// and 2. Some photos show their class more strongly than others, so that with a few of
// each the measured length says more about the photos than about the class; left as it is, a class
// of strong photos takes those of its neighbours. 1 where the mean is certain.
//
//	head     ν                 uncertainty of the mean   density
//	lda      ∞                 off: μ = L⁻¹(m̄−m₀), v = 0  Gaussian
//	plda     ∞                 on                        Gaussian
//	ppca-eb  chosen            on                        Gaussian
//	plda+    chosen            on                        t, and a calibration
//	ppca     0                 off                       Gaussian (see below)
//
// ppca itself is ν = 0 without uncertainty and without the shared space: L = I
// and one λ for all classes in place of r. It is scored by package lowrank,
// which needs no space and holds λ fixed.
//
//	symbol  field          shape  meaning
//	m₀      Origin         d      mean of the base class means
//	L⁻¹     Whiten         d×d    W = L·Lᵀ = (1−ε)·S + ε·tr(S)/d·I, S pooled within the base classes, divisor Σ(n−1)
//	V       Directions     r×d    eigenvectors of the covariance of the whitened means, divisor C−1
//	β       Beta, Rest     r, 1   between-class variances along V, and elsewhere
//	w, U    Class.Values   k      class-specific variances above Noise, and their directions
//	a       Class.Noise    1      1−ρ+ρr
//	η       Length         1      0: lengths as measured, 1: as expected
//	F       Density.factor k×d    C⁻¹ = D⁻¹ − FᵀF, D = diag(a+v), by Woodbury
//
// Where few classes of the base session have two different images, S says
// little. With D = Σ(n−1) and T the covariance of an image of any class, all C
// classes being equally probable, the share w = 1−D/C (0 if D ≥ C, 1 if no class
// has two different images) of W and β is guessed:
//
//	W = (1−w)·((1−ε)·S + ε·tr(S)/d·I) + w·(1−ρ)·(0.1·T + 0.9·tr(T)/d·I)
//	β = (1−w)·β + w·ρ/(1−ρ)
//
// so that two images of a class are correlated by ρ = 1/3, as package calibration
// simulates them. Heads that learn a part of a session, to be calibrated, guess as
// much as the head of all of it (Basis.GuessAs). One image per class then classifies as accurately as ridge
// regression. With two of every class T has no share: it makes them worse.
//
// Cost: Fit O(nd²), Space O(d³); with n ≤ d/6 examples O(n²d) both, without a d×d matrix
// (Whitening). A density O(d(r+k)+k²d), scoring a row
// O(d(Σk+C+r)+Cr) with one product for each kind of term. The low-rank product
// is in float32; where the squared distance is the small difference of large
// terms (below 1/50 of them) it is recomputed in float64 as a sum of squares
// (Density.exact), which makes it accurate to 1e−4.
//
// Assumptions: rows have length 1, and what is shared was set by the base
// session. Deviations from the source (Brümmer and de Villiers 2010): β is
// shrunk half-way to its mean, and f, of ours. Speaker recognition normalises the length of
// every vector (Garcia-Romero and Espy-Wilson 2011); here that of images gains nothing more.
package gauss
