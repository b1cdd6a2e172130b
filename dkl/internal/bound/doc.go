// Package bound computes the sum of the lower bounds of a tree's nodes that deep
// kernel learning maximises, its variational updates, and its gradient with
// respect to the kernel matrices (Achituve et al., "GP-Tree", ICML 2021, eq. 13,
// 15–17, algorithm 1 and §C.2).
//
//	symbol   here             shape    meaning
//	v        Split            –        an internal node: its leaves are contiguous, left ones first
//	n_v B_v  examples, rows   1        training examples under v, in total and in a batch
//	K_mm     Problem.Kmm      M×M      kernel at the inducing inputs, leaf after leaf
//	K_nm     Problem.Knm      n×M      kernel between the batch and the inducing inputs
//	K_ii     Problem.Knn      n        prior variances of the batch
//
// Every node is a gp.VI whose kernel is trained; see package gp for other symbols.
//
// The loss of a batch is
//
//	Σ_v −1/n_v [ n_v/|B_v| Σ_i (κᵢμᵢ − log 2cosh(cᵢ/2)) − KL(q(u)‖N(0, I)) ]
//	μ = A·Eu,  cᵢ² = K_ii − ‖aᵢ‖² + aᵢᵀS aᵢ + μᵢ²
//
// over the nodes that have examples in the batch, with the optimal c (eq. 16).
//
// The gradient is that of gp.VI.Gradient, which holds h and P fixed. The diagonal
// of K_mm is increased by 1e-6 of itself.
//
// # Deviations from the paper
//
// The paper holds the moments of f̄ fixed while the kernel changes; here those of
// u = L⁻¹f̄ are fixed, so that a nearly singular K_mm cannot make the divergence
// explode between two steps. The natural-gradient step itself is the same. Eq. 17
// is corrected as in package gp.
//
// # Cost
//
// A step of a node takes two factorisations, two inverses of factors and another
// 1.3·m³ + 7·B_v·m² multiplications, nearly all in products on a backend: inverse
// factors are multiplied as a whole, zeros included, which a library does several
// times faster than gonum solves with them. Memory is 5·m² + 3·B_v·m values per
// node. Nodes run in parallel, and so do the products of a large one. Sums have a
// fixed order for any number of threads. All computation is in float64.
package bound
