// Package gpr implements Gaussian process regression on a changing set of
// examples: examples and outputs are added and removed, inputs and targets
// change, and the state is updated exactly, at the cost of the change instead of
// a new fit.
//
// Source: Lütz, Rodner and Denzler 2011, "Efficient multi-class incremental
// learning using Gaussian processes".
//
//	symbol      field   shape  meaning
//	x           x       n×d    inputs, with their squared lengths (n)
//	t           t       C×n    targets, one row per output
//	K           –       n×n    κ(x_i, x_j); never stored
//	σ²          Noise   1      variance of a target about the function
//	(K+σ²I)⁻¹   solver  n×n    one triangle: the inverse, or the Cholesky factor of K+σ²I
//	α           alpha   C×n    (K+σ²I)⁻¹t
//	–           diag    n      diagonal of the inverse, computed on first use
//
//	μ = k*ᵀα,   variance = κ** − k*ᵀ(K+σ²I)⁻¹k* + σ²   (eq. 2–4)
//
// # Woodbury updates
//
// Changing the examples in S changes K by U·V of eq. 7, which is A·Eᵀ + E·Aᵀ
// with E the unit vectors of S. Eliminating E from the 2k×2k matrix of eq. 6
// splits the update into two of rank k with positive definite middles. With G
// the columns of the inverse that belong to S, and G_S its rows in S,
//
//	old − G·G_S⁻¹·Gᵀ                             the inverse without S (zero in its rows and columns)
//	    + [V; −I]·N⁻¹·[V; −I]ᵀ                   the inverse with S at its new inputs
//	V = (inverse without S)·B,  N = B_S − VᵀB    B the new kernel values, σ² included
//
// Both middles have Cholesky factors, so an example that adds nothing to the
// others is detected before anything changes (*NotPSDError), and the old kernel
// values are not needed. Adding is the second line alone, for rows and columns of
// zeros; removing is the first alone. α, the diagonal and log|K+σ²I| are updated
// from the same columns at rank k.
//
// Corrections are stored next to the triangle until their rank exceeds 32 and
// are then folded in together: an update reads the triangle once and does not
// write it. Up to 32 right-hand sides share such a pass: rows of the triangle
// that are in the cache are multiplied by all of them.
//
// Method iterative processes one example after the other, direct all at once.
// Method cholesky appends rows to the Cholesky factor and deletes them by plane
// rotations. It is the default: it fits in a third of the time and is the most
// accurate. Woodbury takes half the time to add up to a hundred examples to
// thousands, and a quarter to change or remove one.
//
// # Deviations from the paper
//
//   - Eqs. 8 and 9 halve the change for all pairs of changed examples, computed
//     with the other's old input. The right value is ½(κ(x'_i, x'_q) − K_iq),
//     with both inputs new; the form above needs no halves.
//   - A new row need not start with 1 on the diagonal: zeros work too.
//   - α is updated at rank k instead of by a new product.
//   - Removing more than about a third (cholesky: a sixteenth) of the examples
//     refits the rest in a batch, which is cheaper.
//
// # Accuracy
//
// Every 32 changes |(K+σ²I)α − t| and the inverse itself are checked for four
// examples, from the inputs; if the drift exceeds 1e−10 and 100 times that of a
// fresh fit, the state is recomputed (Refreshes counts these). A pivot below
// 1e−10 of its diagonal value counts as zero.
//
// # Cost
//
//	batch fit            n²d + n³/3 (Woodbury: n³)
//	add k examples       knd + k(n+k)² + k³
//	change k inputs      the same; cholesky copies its triangle first
//	remove k examples    kn² + k³
//	add c outputs, or change k targets of C outputs   cn², Cn²
//	mean, variance of one input                       n(d+C), n(d+n)
//	memory               4n² + 8n(d+1) + 16nC bytes, 256n more for tiles, and for Woodbury 256n for corrections
//
// All computation is in float64. Results do not depend on the number of cores.
package gpr
