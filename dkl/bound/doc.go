// Package bound holds the sum of the lower bounds of a tree's nodes that deep
// kernel learning maximises, its variational updates, and its gradient with
// respect to the kernel matrices (Achituve et al., "GP-Tree", ICML 2021, eq.
// 13, 15–17, algorithm 1 and §C.2).
//
//	symbol   here             shape    meaning
//	v        Split            –        an internal node: its leaves are contiguous, left ones first
//	n_v B_v  examples, rows   1        training examples under v, and those of a batch
//	K_mm     Problem.Kmm      M×M      kernel at the inducing inputs, leaf after leaf
//	K_nm     Problem.Knm      n×M      kernel between the batch and the inducing inputs
//	K_ii     Problem.Knn      n        prior variances of the batch
//	L⁻¹      node.l           m×m      K_mm of the node, diagonal times 1+1e-6, is LLᵀ
//	A        node.a           B_v×m    K_nm·L⁻ᵀ
//	h, P     node.eta, .p     m, m×m   natural parameters of q(u), u = L⁻¹f̄
//	R⁻¹, S   node.r           m×m      P = RRᵀ, S = P⁻¹
//	c, λ, κ  –                B_v      as in package gp
//
// The loss of a batch is
//
//	Σ_v −1/n_v [ n_v/|B_v| Σ_i (κᵢμᵢ − log 2cosh(cᵢ/2)) − KL(q(u)‖N(0, I)) ]
//	μ = A·Eu,  cᵢ² = K_ii − ‖aᵢ‖² + aᵢᵀS aᵢ + μᵢ²
//
// over the nodes that the batch has examples of, with c at its best (eq. 16).
//
// # Gradient
//
// h and P stay while the kernel moves. Then the divergence does not depend on
// the kernel, and with Ā = ∂loss/∂A
//
//	Āᵢ = −1/|B_v| [(κᵢ − λᵢμᵢ)·Eu + λᵢ(aᵢ − S aᵢ)],   ∂loss/∂K_ii = λᵢ/(2|B_v|)
//	∂loss/∂K_nm = ĀL⁻¹
//	∂loss/∂K_mm = −sym(L⁻ᵀ Φ(ĀᵀA) L⁻¹)
//
// where Φ takes the lower triangle and halves its diagonal: the adjoint of the
// Cholesky factorisation (Murray, arXiv:1602.07527, 2016), in which LᵀL̄ and
// −ĀᵀA have the same lower triangle.
//
// # Deviations from the paper
//
// It holds the moments of f̄ while the kernel moves; here those of u = L⁻¹f̄
// stay, so that a nearly singular K_mm cannot make the divergence explode
// between two steps. The natural-gradient step itself is the same. Eq. 17 is
// corrected as in package gp.
//
// # Cost
//
// A node takes two factorisations, two inverses of factors and 1.3·m³ + 7·B_v·m²
// multiplications more a step, nearly all in products of a backend: inverse
// factors are multiplied as a whole, zeros too, which a library does several
// times as fast as gonum solves with them. 5·m² + 3·B_v·m values. Nodes run in
// parallel, and so do the products of a large one. Sums have one order whatever
// the number of threads. All float64.
package bound
