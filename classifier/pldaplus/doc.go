// Package pldaplus holds two heads of one family (package gauss): ppca-eb,
// PPCA with class covariances shrunk toward the pooled one and with uncertain
// class means, by empirical Bayes; and plda+, the same with Student's t and a
// calibration of base classes against later ones.
//
// Source: no paper; it combines Tipping and Bishop 1999, Wang 2023 and the
// two-covariance model (package plda). Embeddings are scaled to length 1 and
// whitened, z = L⁻¹(x−m₀).
//
//	symbol  field           shape  meaning
//	n, Σx   class.Total     1, d   examples of a class and their sum
//	w, U    spread.values   q, q×d leading eigenpairs of the class covariance in z, divisor n−1; q ≤ n−1
//	r       spread.residual 1      its mean variance in the other directions
//	ν       Setting.Nu      1      examples that the shared covariance counts as
//	ρ       –               1      (n−1)/(n−1+ν)
//	η       Config.MeanLength 1   how far the length of a class mean is moved (package gauss)
//	κ, T    Setting         1      weight of the cosine with the class mean, temperature
//	b       Setting.Later   1      added to the scores of classes of later sessions
//	g       Setting.Rerank  1      weight of the regression among base classes
//	–       class.logit     d+1    the class's row of the regression
//
//	ℓ_c = log N or t(z; μ, C), df = ν+n−1,
//	C   = diag(1−ρ+ρr+v) + ρ·U·diag(w−r)₊·Uᵀ
//	s_c = (ℓ_c + κ·cos(z, z̄_c))/T                 + b for later classes
//	s_c = LSE_base(s) + log-softmax(g·logit)_c    for base classes, where g > 0
//	log p(c|x) = log-softmax(s)
//
// ν = ∞ (Pooled) is exactly plda with the same η; ν → 0 without uncertainty of the mean is PPCA
// in whitened coordinates with λ = r; with q ≥ d it is the Gaussian with full
// covariance.
//
// Classes of the first session are base classes, even if they gain more
// examples; one that was forgotten and learned again is a later class.
//
// Pseudo-sessions inside the base session, drawn by Config.Seed, choose the
// setting (package episodes): first ν among ∞, 3000, 1000, 300, 100 and 30, then, with
// Config.Calibrate, the best of ν, κ, T, b and g together. The calibrated
// setting is used only if it is more accurate by more than a standard error
// (paired); otherwise κ = b = g = 0 and T = 1. b is tried at 80
// quantiles of the shifts that would bring a later class level. A base session
// too small for pseudo-sessions (fewer than four classes of more than five
// images) has ν = ∞: the head is then plda with this ε. The choice is saved
// with the head.
//
// The regression (multinomial logistic, weight decay 0.01, twelve steps of
// L-BFGS from zero: stopping early is half of its regularisation) treats classes
// as equally frequent, however many examples each has. It sees only base examples,
// is not updated later, and is left out if a step would take more than 4e10
// multiplications.
//
// Learning more examples of a class and forgetting are exact given what the
// base session set, using the statistics of the class (package moments), which
// are saved separately. The influence of a forgotten base class on the space
// and the regression stays until the last class is forgotten.
//
// Small data is well defined: one example gives the shared covariance alone,
// equal examples a variance of at least 1e−9.
//
// Cost: base session O(nd² + d³) and a fit of every class, O(min(n²d, nd²)),
// about five times as much for nine pseudo-sessions and O(nCd) per step for the
// regression; later sessions O(d²) per row. Scoring O(d² + Cqd) per row. Memory
// 8qd + 24d bytes per class besides the statistics.
//
// Deviations from the first NumPy version of the formula: the regression works
// on z without the rotation V, which changes nothing; the variance of a class
// in directions without a component is at least 1e−9.
package pldaplus
