// Package kernel implements the covariance functions of the Gaussian processes:
// RBF, Matérn-5/2 and linear, on raw inputs or on inputs of length 1. Each matrix
// takes one product, and gradients are in adjoint form (Rasmussen and Williams,
// "Gaussian Processes for Machine Learning", 2006, ch. 4).
//
//	symbol  field        meaning
//	s       Outputscale  factor of every kernel
//	ℓ       Lengthscale  divisor of every input
//	x̂       Normalize    x scaled to length 1 (a zero vector stays zero), or x itself
//
//	rbf       s·exp(−r²/2)                     r = ‖x̂−ẑ‖/ℓ
//	matern52  s·(1 + a + a²/3)·exp(−a)         a = √5·r
//	linear    s·x̂·ẑ/ℓ²
//
// Squared distances are ‖x̂‖² + ‖ẑ‖² − 2x̂·ẑ, clipped at zero: for nearly equal
// inputs they are exact to about 1e-16 times the squared lengths, and so are the
// kernels, all of which are smooth in r². The diagonal of Gram is exact.
//
// Every element of a matrix depends only on its two inputs: it is the same to the
// last bit for any other rows and any number of threads.
//
// Gradients take G = ∂L/∂K and return ∂L/∂x, ∂L/∂z (through the scaling to
// length 1), ∂L/∂ℓ and ∂L/∂s. All computation is in float64.
//
// A Pair stores x̂·ẑ for training: the values and the gradient of a step take one
// large product each, on any backend.
//
// Cost: n·m·d multiplications per matrix (half of that for Gram), three times
// that per gradient, and memory for one more n×m matrix.
package kernel
