// Package linalg holds the few dense kernels that the heads share: products
// a·bᵀ in float32 and float64, the leading eigenpairs of a symmetric matrix,
// the same from a thin factor, and Cholesky with an error that carries data.
//
// Every element of a product is one dot product of two rows, computed in the
// same order whatever the batch size, the tiling and the number of threads:
// results repeat bit for bit.
//
// Matrices are row-major. Public functions return errors for shapes that do
// not fit.
package linalg
