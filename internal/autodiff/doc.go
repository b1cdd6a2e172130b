// Package autodiff differentiates functions of matrices backwards: what is computed
// with a Graph's operations is written down, and Backward goes through it in
// reverse and leaves in every Var the derivative of one number with respect to
// it. Float64 throughout, matrices row-major, none of them empty.
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
// Op adds operations of a package's own: a value, and what to do with its
// derivative.
//
// A Graph serves one evaluation on one goroutine; graphs of several goroutines
// share nothing. The order of all sums depends on shapes alone: results are the
// same for any number of threads. Shapes that do not belong together are
// mistakes of the calling package and panic in BLAS.
//
// Memory: every value and every derivative, until the Graph is dropped. Time:
// about twice that of the values more.
package autodiff
