// Package polyagamma draws Pólya-Gamma variables (Polson, Scott and Windle,
// "Bayesian inference for logistic models using Pólya-Gamma latent variables",
// JASA 2013), with which a logistic likelihood becomes Gaussian:
//
//	e^{aψ}/(1+e^ψ)^b = 2^{−b}·e^{(a−b/2)ψ}·E[e^{−ωψ²/2}],  ω ~ PG(b, 0)
//
// PG(1, c) is drawn exactly, by Devroye's alternating series on the
// exponentially tilted Jacobi distribution (their §4; Devroye 2009), without
// truncation or approximation. PG(b, c) for integer b is the sum of b such
// draws; PG(0, c) = 0. The distribution is even in c.
//
//	symbol  here        meaning
//	b, c    arguments   shape and tilt
//	z       z           |c|/2
//	t       cut         0.64: below it the proposal is inverse Gaussian, above it exponential
//	K       rate        π²/8 + z²/2
//	p, q    rightShare  masses of the two proposals, p above t
//	aₙ(x)   –           terms of the series; only their ratios to a₀ are needed
//
// At large |c| the textbook sampler loses both p and q to underflow and hangs
// or returns NaN. Here p/(p+q) is taken as 0 for z ≥ 16, where it is below 1e-28
// and no 53-bit uniform number can fall below it, and the inverse Gaussian is
// drawn in a form without cancellation.
//
// Cost: about 1.2 uniform, 1 exponential and 1 normal number per draw. A table
// brackets p/(p+q), which falls with z, so that few draws need its exponentials
// and error functions.
//
// The only source of randomness is the caller's *rand.Rand: the same stream
// gives the same draws.
package polyagamma
