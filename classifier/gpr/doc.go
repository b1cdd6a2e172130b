// Package gpr is one-vs-all Gaussian process regression on labels of ±1, with
// one inverse that all classes share.
//
// Source: Lütz, Rodner and Denzler 2011; package gp/gpr documents the
// updates and the corrections to them.
//
//	symbol  field       shape  meaning
//	x       x           n×d    the stored examples, scaled to length 1 for the kernel (normalize)
//	t       reg         C×n    +1 for the class of an example, −1 elsewhere
//	κ       kernel      –      exp(−‖a−b‖²/2ℓ²), or ½ + ½aᵀb
//	α       reg         C×n    (K+σ²I)⁻¹t
//	τ       tau         1      temperature
//
//	log p(c|x) = log-softmax_c μ_c/τ,   μ_c = k*ᵀα_c                          (eq. 4)
//	variance(x) = κ** − k*ᵀ(K+σ²I)⁻¹k* + σ² = s², the same for all classes           (eq. 3)
//	novelty(x) = −(max μ_c + 1)/s
//
// The novelty is how far the most likely class lies above −1, the label of what is of
// another class, in standard deviations: far from all examples 1, since there μ = 0 and
// s ≈ 1; near those of one class 2/s. (Version 0.1 took the variance. That tells how
// much is known about x, not whether x is of a known class: docs/log/novelty.md.)
//
// Assumptions: labels are function values with Gaussian noise. A class with few
// examples among classes with many has smaller means (every other example pulls
// it to −1) and is recognised less often: store about the same number of each.
//
// τ minimises the negative log-likelihood of every example under the means it
// would have had without itself, t − α/diag((K+σ²I)⁻¹). This is exact, and
// refitted from all examples after every session, between 0.02 and 20. Examples
// that are alone in their class carry no information and are left out; if none
// is left, τ = 0.25.
//
// # Bounded memory
//
// All examples are stored, in the model file too: **it contains the
// embeddings**, and the factor of an n×n matrix, 4n² bytes (n = 3000: 36 MB). A
// session that would take a class over max_per_class (30) or all classes over
// max_total (5000) is a *TooManyError. With over_cap set to first or herd, the
// head stores some examples of a class instead; herd (Welling 2009, as in
// iCaRL) selects the examples whose mean follows that of all, whatever their
// order. Examples that were left out leave no trace and cannot be forgotten;
// herding sees those of the current session and the stored ones.
//
// # Hyper-parameters
//
// ℓ = 0.7 and σ² = 0.03 suit embeddings of length 1 and are the defaults. If
// set to 0 (Auto), they maximise the log marginal likelihood on a grid of 7×7,
// on up to 512 examples of the base session. The mean of each class's labels is
// subtracted, and each candidate has its best prior variance: the first tells
// no class anything, the second changes no mean. The evidence of all candidates
// is saved with the head. With normalize off, ℓ is in the units of the
// embeddings, and candidates scale with their spread.
//
// Learning and forgetting, of classes and single examples, are exact: the head
// depends only on its current examples, not on its history (except for
// hyper-parameters, which stay until the last class is forgotten).
//
// Cost: base session n²d + n³/3; k more examples knd + k(n+k)² and a copy of
// the state, which briefly doubles the memory; τ about 40nC exponentials.
// Scoring an example n(d+C), its novelty n² more. Everything is float64.
package gpr
