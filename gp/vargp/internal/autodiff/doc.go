// Package autodiff implements reverse-mode differentiation of functions of
// matrices: a Graph records its operations, and Backward runs through them in
// reverse and leaves in every Var the derivative of one number with respect to it.
// Matrices are float64, row-major and not empty.
//
//	operation        value                adjoint
//	Mul              A·B                  Ā += C̄·Bᵀ, B̄ += Aᵀ·C̄
//	Transpose        Aᵀ                   Ā += C̄ᵀ
//	Cholesky         L, A = L·Lᵀ          Ā += sym(L⁻ᵀ·Φ(Lᵀ·L̄)·L⁻¹), Φ the lower triangle with half its diagonal
//	Solve            Y = L⁻¹·B            B̄ += L⁻ᵀ·Ȳ, L̄ −= tril(B̄·Yᵀ)
//	SolveTrans       Y = L⁻ᵀ·B            B̄ += L⁻¹·Ȳ, L̄ −= tril(Y·B̄ᵀ)
//	BlockDiagonal, Block, Stack     copies
//	Add, Scale, SumSquares, LogDiagonal
//
// Op lets other packages add operations: a value, and a function that propagates
// its derivative.
//
// A Graph serves one evaluation on one goroutine; graphs of several goroutines
// share nothing. The order of all sums depends on shapes alone: results are the
// same for any number of threads. Shapes that do not match are programmer errors
// and panic in BLAS.
//
// A Graph holds every value and every derivative until it is dropped. Backward
// takes about twice as long as computing the values.
package autodiff
