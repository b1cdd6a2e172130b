// Package gpsoftmax holds two multi-class Gaussian process classifiers that are
// sampled with Pólya-Gamma variables, the baselines of GP-Tree's Table 1
// (Achituve et al. 2021): lsm, the logistic-softmax likelihood (Galy-Fajou,
// Wenzel, Donner and Opper 2020), and ove, the one-vs-each likelihood (Titsias
// 2016; Snell and Zemel 2021). Each class has its own function; all have the
// same kernel.
//
//	symbol   field           shape   meaning
//	n, C, r  –               –       examples, classes, width of the basis
//	y        data.own        n       class of every example
//	K, Φ     basis.k, phi    n×n,n×r covariances, and features with K = ΦΦᵀ
//	f, t     draws           C×n,C×r functions at the examples, f_c = Φt_c, t ~ N(0, I)
//	ω, κ     independent     C×n     for lsm, one per class and example
//	ω        joint           n(C−1)  for ove, one per pair of an example and another class
//	A        overlap         –       pairs × Cn, rows e_y − e_c at the example of a pair
//	B        system          –       I + Ω^½KΩ^½, or I + Ω^½A(I⊗K)AᵀΩ^½; eigenvalues ≥ 1
//	D        model.open      –       stored draws, chains × draws
//
// # Logistic-softmax
//
//	p(y = c | f) = σ(f_c) / Σ_j σ(f_j)
//
// With 1/s = ∫e^{−λs}dλ and e^{−λσ(f)} = e^{−λ}·Σ_n (λσ(−f))ⁿ/n! the functions
// are independent given
//
//	n_c | λ, f ~ Poisson(λσ(−f_c)),   λ | n ~ Gamma(1 + Σn_c, rate C)
//	ω_c | n, f ~ PG(y_c + n_c, f_c),  κ_c = (y_c − n_c)/2
//
// Here λ is drawn from λ | f ~ Exp(Σσ(f_c)) instead, which has n summed out: λ
// and n then are one draw given f, and the chain mixes faster. PG(0, ·) is 0,
// so that an example takes part in the system of a class only if y_c + n_c > 0;
// systems are far smaller than n. PG(b, ·) with b > 1000 is approximated by a
// normal distribution, and λ is limited to 2^30: both matter only where every
// σ(f_c) of an example is small.
//
// # One-vs-each
//
//	L(y = c | f) = Π_{j≠c} σ(f_c − f_j)
//
// a composite likelihood whose sum over c is not 1 for C > 2. ω ~ PG(1, Af), κ
// = ½ for every pair, and the posterior precision of all Cn values of f is K⁻¹
// + AᵀΩA. Draws use B, of order n(C−1), and never the inverse of K. For C = 2
// this is the binary logistic model with kernel 2K.
//
// # Chains and prediction
//
// A chain starts at f = 0; Steps times it draws the auxiliary variables and
// then f. Given its last auxiliary variables, Draws draws are made and stored.
// Functions are drawn by Matheron's rule in the coordinates t, with no jitter:
// K may be singular.
//
// Prediction is Monte Carlo over the D draws. With a linear kernel a draw is a
// function everywhere. With the other kernels t does not determine the variance
// k** − ‖ϕ*‖² of f(x*); normal numbers that are the same for every x* and come
// from the seed fill it in, so that predictions are smooth and reproducible.
// The mean likelihood over the draws is normalised over the classes: the
// logistic-softmax sums to 1 by itself, one-vs-each is divided by its sum. The
// Monte Carlo error of a probability p is at most about √(p(1−p)/D), reached
// far from all data, and smaller where the draws agree.
//
// Novelty is −max_c (m_c − s_c), m and s the mean and the standard deviation of a function
// over the draws: what at least speaks for the most likely class. Far from all examples
// it is the standard deviation of the prior, near those of a class negative.
//
// # Examples
//
// All examples are stored, in the model file too: it contains the embeddings.
// Every session, and forgetting classes or examples, samples again from the
// remaining examples: the result is bit for bit that of a head that learned
// them in one session, in any order, and with any number of threads. More than
// max_per_class examples of a class, or systems above max_system, are a
// *TooManyError.
//
// Cost: K n²d/2 and its root n³/3, once. A step of lsm takes for each class
// m³/3 + 2mr, where m ≤ n examples take part, or mr²/2 + r³/6 if r < m; a step
// of ove takes (n(C−1))³/3. Memory: 8·(n(C−1))² bytes per running chain for
// ove, 8m² for lsm, and 8DCr for the draws. A prediction takes r² + DCr
// multiplications and DC exponentials, DC² for ove. Everything is float64.
package gpsoftmax
