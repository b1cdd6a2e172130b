// Package gpr is one-vs-all Gaussian process regression on labels of ±1, with
// one inverse that all classes share.
//
// Source: Lütz, Rodner and Denzler 2011; package regression has the updates
// and what was corrected in them.
//
//	symbol  field       shape  meaning
//	x       x           n×d    the examples kept, scaled to length 1 for the kernel (normalize)
//	t       reg         C×n    +1 for the class of an example, −1 elsewhere
//	κ       kernel      –      exp(−‖a−b‖²/2ℓ²), or ½ + ½aᵀb
//	α       reg         C×n    (K+σ²I)⁻¹t
//	τ       tau         1      temperature
//
//	log p(c|x) = log-softmax_c μ_c/τ,   μ_c = k*ᵀα_c                          (eq. 4)
//	novelty(x) = variance(x) = κ** − k*ᵀ(K+σ²I)⁻¹k* + σ², the same for all classes   (eq. 3)
//
// Assumptions: labels are function values with Gaussian noise. A class with
// few examples among classes with many has smaller means (every other
// example pulls it to −1), so that it is recognised less often: keep about as
// many of each.
//
// τ is that of least negative log-likelihood of every example by the means it
// would have had without itself, t − α/diag((K+σ²I)⁻¹): exact, and refitted
// from all examples after every session, between 0.02 and 20. Examples that
// are alone in their class say nothing; where none is left, τ = 0.25.
//
// # Bounded memory
//
// All examples are kept, in the model file too: **it contains the embeddings**,
// and the factor of an n×n matrix, 4n² bytes (n = 3000: 36 MB). A session that
// would take a class over max_per_class (30) or all classes over max_total
// (5000) is a *TooManyError. over_cap keeps some of a class instead: first, or
// herd (Welling 2009, as iCaRL has it), the examples whose mean follows that
// of all, the same whatever their order. Examples that were left out leave no
// trace and cannot be forgotten; herding sees those of one session, and what
// remains from before.
//
// # Hyper-parameters
//
// ℓ = 0.7 and σ² = 0.03 suit embeddings of length 1 and stay. Set to 0 (Auto),
// they are those of the largest log marginal likelihood on a grid of 7×7, on
// up to 512 examples of the base session. The labels are taken less their mean
// in each class, and the prior variance at its best for each candidate: the
// first is no news to any class, the second changes no mean. The evidence of
// all candidates is saved with the head. With normalize off, ℓ is in the units
// of the embeddings; candidates scale with their spread.
//
// Learning and forgetting, of classes and single examples, are exact: the head
// is that of its examples, whatever happened before (hyper-parameters aside,
// which stay until the last class is forgotten).
//
// Cost: base session n²d + n³/3; k more examples knd + k(n+k)² and a copy of
// the state, which is twice the memory for a moment; τ about 40nC
// exponentials. Scoring an example n(d+C), its novelty n² more. Float64.
package gpr
