// Package linalg provides the dense kernels that the heads share: products a·bᵀ
// in float32 and float64, the leading eigenpairs of a symmetric matrix, also from
// a thin factor, and Cholesky factorisation with a structured error.
//
// Every element of a product is one dot product of two rows, computed in the same
// order for any batch size, tiling and number of threads: results repeat bit for
// bit.
//
// Matrices are row-major. Products of a Backend return errors, for shapes that do not match, of
// a library that fails and of a context that has ended (Until); functions that multiply with
// gonum alone cannot fail and, as gonum, panic if shapes do not match.
package linalg
