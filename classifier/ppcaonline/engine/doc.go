// Package engine is naturally constrained online EM (NAT-oEM) for probabilistic
// PCA: N(μ, C), C = W·Wᵀ + σ²I, learned one example at a time.
//
// Source: Pamplona and Manzanera, "Naturally Constrained Online Expectation
// Maximization", ICPR 2020; online EM after Cappé and Moulines 2009.
//
//	symbol   field    shape  meaning
//	μ        Mean     d      mean
//	W        W        d×q    principal directions, as columns, not orthonormal
//	σ²       Sigma2   1      noise variance
//	M        –        q×q    WᵀW + σ²I
//	S⁰ … S³  stats    1, d×q, q×q, d   running averages of the sufficient statistics
//	γ        Gamma    1      weight of the new example, γ_k = Gamma·(k+Offset)^−GammaExponent
//	β        Beta     1      strength of the constraint, β_k = Beta·k^−BetaExponent
//	θ*, F*   –        as θ   reference parameters, diagonal of the Fisher information there
//
// One step, for example x (Model.Step):
//
//	E  z = M⁻¹Wᵀ(x−μ);  s⁰ = ‖x−μ‖², s¹ = (x−μ)zᵀ, s² = σ²M⁻¹ + zzᵀ, s³ = x  (eq. 9–12)
//	   S ← S + γ(s − S)                                                     (eq. 5)
//	M  μ = S³, W = S¹(S²)⁻¹, σ² = (S⁰ − 2tr(S¹Wᵀ) + tr(S²WᵀW))/d            (eq. 13–15)
//	R  θ ← θ − a·(θ − θ*), every element with its own a                     (eq. 16–18)
//
// Policies: "none" has no R-step, which is plain online EM; "step" takes θ*
// from the previous step; "class" takes it from the last EndClass, and has no
// R-step before the first one.
//
// RStep defines a: "paper" is β/F, as in eq. 7; "fisher" is βF, the gradient of
// the penalty of eq. 6; "identity" is β, its natural gradient. Where a would
// leave [0, 1] the step would overshoot θ*: a is clamped, and counted.
//
// Fisher is "exact" (Slepian–Bangs, eq. 28–32) or "paper" (eq. 19–21, which
// differ from the paper's own appendix):
//
//	       exact                                      paper
//	μ_i    (C⁻¹)_ii                                   (C⁻²)_ii
//	W_ij   ((C⁻¹W)_ij)² + (WᵀC⁻¹W)_jj·(C⁻¹)_ii        twice that
//	σ²     ½·tr C⁻²                                   tr C⁻¹
//
// C is never formed: C⁻¹ = (I − W·M⁻¹·Wᵀ)/σ², C⁻¹W = W·M⁻¹, WᵀC⁻¹W = I − σ²M⁻¹,
// and the eigenvalues of C are those of M and d−q times σ².
//
// Cost: a step takes O(dq² + q³) time; a model stores O(dq) values.
//
// Deviations from the paper: z has the transpose that its text drops; eq. 15
// uses the new W; a is clamped; σ² has a floor (MinSigma2). The initial
// statistics are those of the initial parameters, S = (tr C, W, I, μ), so that
// an M-step before any example changes nothing; the paper does not specify
// them.
package engine
