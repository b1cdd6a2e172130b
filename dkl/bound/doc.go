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
//
// Every node is a gp.VI whose kernel moves; the table of package gp has the rest.
//
// The loss of a batch is
//
//	Σ_v −1/n_v [ n_v/|B_v| Σ_i (κᵢμᵢ − log 2cosh(cᵢ/2)) − KL(q(u)‖N(0, I)) ]
//	μ = A·Eu,  cᵢ² = K_ii − ‖aᵢ‖² + aᵢᵀS aᵢ + μᵢ²
//
// over the nodes that the batch has examples of, with c at its best (eq. 16).
//
// The gradient is that of gp.VI.Gradient, in which h and P stay while the kernel
// moves. The diagonal of K_mm grows by 1e-6 of itself.
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
// parallel, and so do the products of a large one. Sums have one order at any
// number of threads. All float64.
package bound
