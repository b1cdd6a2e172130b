// Package gp implements the binary Gaussian process classifier of GP-Tree
// (Achituve, Navon, Yemini, Chechik, Fetaya, ICML 2021): a logistic likelihood
// made Gaussian by Pólya-Gamma variables, with posteriors by Gibbs sampling
// (Gibbs) or by variational inference on inducing inputs (VI, after Wenzel et
// al. 2019).
//
//	symbol   here               shape    meaning
//	n, m, q  –                  –        examples, inducing inputs, inputs to predict at
//	y        yes                n        whether an example goes to the left
//	κ        kappa              n        y − ½
//	K, Φ     Prior              n×n, n×r prior covariance, or features with K = ΦΦᵀ
//	m        Around             n        prior mean, 0 in the paper
//	ω        Gibbs.Omega        n        PG(1, f), one set per chain (eq. 4)
//	B        –                  n×n      I + Ω^½KΩ^½, eigenvalues ≥ 1
//	k*, k**  rows, prior        q×n, q   cross-covariances and prior variances
//	μ*, Σ*   Latent             q×chains moments of f at new inputs (eq. 12, 14)
//	K_mm     NewVI              m×m      prior covariance at the inducing inputs
//	m̃, S̃     VI.inducing        m, m×m   q(f̄) at the inducing inputs
//	c, λ     –                  n        tilt of q(ω) and its mean tanh(c/2)/(2c)
//	η, H     VI.eta, precision  m, m×m   natural parameters, whitened (below)
//
// # Prior mean
//
// With f ~ GP(m, k) everything below holds for g = f − m if κ − Ωm (VI: κ − Λm) takes
// the place of κ and ω | f and c² = E f² are those of f = m + g. LeaveOneOut removes
// the factor of each example from the posterior at that example, which for Gaussian
// factors is exact.
//
// # Gibbs
//
// A chain starts at f = m or at a draw from the prior (Schedule.Start), draws ω | f, and
// then repeats f | ω, y (eq. 4) and ω | f. f is drawn by Matheron's rule,
//
//	f = g − KΩ^½B⁻¹(Ω^½g + ε),  g = f₀ + Kκ,  f₀ ~ N(0, K),  ε ~ N(0, I)
//
// which equals f₀ + KΩ^½B⁻¹(Ω^−½κ − Ω^½f₀ − ε) without its 0/0, so that ω = 0
// is harmless, K may be singular, and no jitter is needed. If K = ΦΦᵀ has fewer
// features than examples (the linear kernel), the weights are drawn instead,
// from N(A⁻¹Φᵀκ, A⁻¹) with A = I + ΦᵀΩΦ.
//
// A classifier stores the last ω of every chain; the prediction is the mean
// over chains of E σ(f*) under eq. 12.
//
// # Variational inference
//
// VI works in whitened coordinates u = L⁻¹f̄, K_mm = LLᵀ: with A = K_nm·L⁻ᵀ the
// posterior of u has precision P and natural mean h, and
//
//	c² = Q_ii + aᵀP⁻¹a + (aᵀP⁻¹h)²                    (eq. 16)
//	P ← (1−ρ)P + ρ(I + n/|B|·AᵀΛA)                    (eq. 17)
//	h ← (1−ρ)h + ρ·n/|B|·Aᵀκ
//
// The map from u to f̄ is linear, so these are the natural-gradient steps in
// (η, H) = (L⁻ᵀh, −½L⁻ᵀPL⁻¹); P has eigenvalues ≥ 1 and needs no jitter.
//
// # Deviations from the paper
//
// Eq. 17 is off by a factor of two: its fixed point does not maximise eq. 13.
// That of the update above does, and full batches with ρ = 1 are coordinate
// ascent. Eq. 14 lacks inverses in Σ*; here
// Σ* = k** − k*ᵀK_mm⁻¹(K_mm − S̃)K_mm⁻¹k*. Bounds include all constants, so they
// are true lower bounds of log p(y). Nothing is added to k** (the official code
// adds its jitter there).
//
// # Cost
//
// A Gibbs step of a chain takes n³/6 multiplications (nr²/2 + r³/6 in weight space);
// from n = 192 on all chains solve their systems together by conjugate gradients, with
// about 60 products of K by one vector per chain, to a residual of 1e-8. Sampling
// first takes a factor of K, n³/6, for all chains. The first prediction factors and
// inverts B of every chain, n³/3, and each takes n² (r²) per input and chain; memory is
// n² (r²) per chain. A VI step takes 1.5·|B|m² + m³, a prediction 2m². All computation
// is in float64. Every chain has its own random stream, and the same seed gives the
// same bytes for any number of threads.
package gp
