// Package ppca is incremental probabilistic PCA classification: one Gaussian
// per class, N(μ, L·D·Lᵀ + λI), fitted to the examples of that class alone.
//
// Source: Wang, "Incremental and Hierarchical Probabilistic PCA", 2023,
// chapters 2 and 3, after Tipping and Bishop 1999.
//
//	symbol  field   shape  meaning
//	μ       Mean    d      mean of the class (fields of lowrank.Gaussian)
//	D       Values  q      leading eigenvalues of its sample covariance, divisor n−1 (eq. 2.9)
//	L       Basis   q×d    their eigenvectors, as rows
//	λ       Lambda  1      noise variance of all classes
//	q       Q       1      maximum components of a class
//	r       –       1      squared Mahalanobis distance (eq. 2.7)
//
// Scoring needs no d×d matrix (Theorem 1, eq. 2.10 and 2.11):
//
//	r(x)     = (‖x−μ‖² − ‖u‖²)/λ,  u = diag(√(D/(D+λ)))·Lᵀ(x−μ)
//	log|Σ|   = (d−q)·log λ + Σ log(D+λ)
//	log p(c|x) = log-softmax_c −½(r + log|Σ|)    with log-determinant
//	             log-softmax_c −½r               without
//
// Scores are those of a lowrank.Stack: Lᵀ(x−c) and (μ−c)ᵀ(x−c) of all classes
// come from float32 products per batch, c being the mean of the class means.
// Where the difference in r loses most of its digits (λ small relative to D, or
// a class far from c) the pair is recomputed in float64 from x−μ itself, with
// the residual formed as a vector: (‖δ−L·a‖²)/λ + Σ a²/(D+λ), a = Lᵀδ. r is
// accurate to 1e−4 relative. The same is done for classes within 14 nats of the
// best where the products may be off by more than 2.5e−5 nats: probabilities
// are accurate to 1e−5. Export writes r in float64.
//
// Assumptions: classes are Gaussian, λ is on the scale of the embeddings: 0.01
// suits embeddings of length 1, which is why they are scaled by default.
//
// λ may be chosen by pseudo-sessions inside the base session (Config.Lambda 0,
// package episodes): one λ for all classes, the best of nine multiples, from
// 1/4 to 128, of the variance within the classes, tr(S)/d; or 0.01 if the
// session is too small to tell. The choice and the scores are saved with the
// head (setting lambda_choice) and stay until the last class is forgotten.
//
// Presets: "default" scales embeddings to length 1 and uses the
// log-determinant; "paper" does neither. Normalize and LogDet, when set,
// override the preset. Both have q = 20, λ = 0.01. q = 0 is the paper's RBF
// baseline.
//
// Few examples: a class has at most n−1 components and none whose variance is
// zero or below 1e−9·λ, so that one example, or several equal ones, give N(μ,
// λI). With q ≥ d the model is N(μ, S + λI).
//
// Cost: fitting O(n²d) per class for n ≤ d and O(nd² + d²q) beyond, scoring
// O(Cqd) per example. Memory: 4qd + 8d bytes per class, and the exact
// statistics (package moments) for learning more examples of an old class and
// for forgetting single examples; they are saved separately (Statistics) and
// can be left out.
//
// Deviations from the paper: the log-determinant is used by default; L is
// stored in float32; the paper does not say what n ≤ q means.
package ppca
