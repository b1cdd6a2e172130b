// Package kernel holds the covariance functions of the Gaussian processes:
// RBF, Matérn-5/2 and linear, on raw inputs or on inputs of length 1, with
// matrices by one product each and gradients in adjoint form (Rasmussen and
// Williams, "Gaussian Processes for Machine Learning", 2006, ch. 4).
//
//	symbol  field        meaning
//	s       Outputscale  what every kernel is multiplied by
//	ℓ       Lengthscale  what every input is divided by
//	x̂       Normalize    x scaled to length 1 (a zero vector stays zero), or x itself
//
//	rbf       s·exp(−r²/2)                     r = ‖x̂−ẑ‖/ℓ
//	matern52  s·(1 + a + a²/3)·exp(−a)         a = √5·r
//	linear    s·x̂·ẑ/ℓ²
//
// Squared distances come from ‖x̂‖² + ‖ẑ‖² − 2x̂·ẑ, not below zero: for inputs
// that nearly agree they are exact to about 1e-16 times their squared lengths,
// and so are the kernels, all of which are smooth in r². The diagonal of Gram
// is exact.
//
// Every element of a matrix depends on its two inputs alone, in the same bits
// whatever the other rows and the number of threads are.
//
// Gradients take G = ∂L/∂K and return ∂L/∂x, ∂L/∂z (through the scaling to
// length 1), ∂L/∂ℓ and ∂L/∂s. All is float64.
//
// A Pair keeps x̂·ẑ for training: values and gradients of one step take one large
// product each, with any backend.
//
// Cost: n·m·d multiplications a matrix (Gram half of that), three times that a
// gradient; memory for one more n×m matrix.
package kernel
