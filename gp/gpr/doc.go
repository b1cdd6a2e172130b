// Package gpr is Gaussian process regression on a set of examples that
// changes: examples and outputs come and go, inputs and targets change, and
// the state follows exactly, at the cost of the change instead of a new fit.
//
// Source: Lütz, Rodner and Denzler 2011, "Efficient multi-class incremental
// learning using Gaussian processes".
//
//	symbol      field   shape  meaning
//	x           x       n×d    inputs, with their squared lengths (n)
//	t           t       C×n    targets, a row for each output
//	K           –       n×n    κ(x_i, x_j); never kept
//	σ²          Noise   1      variance of a target about the function
//	(K+σ²I)⁻¹   solver  n×n    one triangle: the inverse, or the Cholesky factor of K+σ²I
//	α           alpha   C×n    (K+σ²I)⁻¹t
//	–           diag    n      diagonal of the inverse, from the first time it is asked for
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
// Both middles have Cholesky factors, so that an example that adds nothing to
// the others is found before anything changes (*NotPSDError), and the old
// kernel values are not needed. Adding is the second line alone, for rows and
// columns of zeros; removing is the first alone. α, the diagonal and log|K+σ²I|
// follow from the same columns at rank k.
//
// Corrections are kept next to the triangle until their rank exceeds 32 and
// then folded in together: one such update reads the triangle once and does
// not write it. Several right sides share such a pass, up to 32 of them: rows
// of the triangle that are in the cache are multiplied by all.
//
// Method iterative does one example after the other, direct all at once.
// Method cholesky is the twin: rows are appended to the factor, and deleted by
// plane rotations. It is the default: a fit takes it a third of the time, and it
// is the most accurate. Woodbury is faster at adding up to a hundred examples to
// thousands, in half of the time, and at changing or removing one, in a quarter.
//
// # Deviations from the paper
//
//   - Eqs. 8 and 9 halve the change for all pairs of changed examples with the
//     other's old input. The right value is ½(κ(x'_i, x'_q) − K_iq), both new;
//     the form above has no halves at all.
//   - A new row need not start as 1 on the diagonal: zeros do.
//   - α is updated at rank k, in place of a new product.
//   - Removing more than about a third (cholesky: a sixteenth) of the examples
//     is a batch fit of the rest, which is cheaper.
//
// # Accuracy
//
// Every 32 changes |(K+σ²I)α − t| and the inverse itself are checked in four
// examples, from the inputs; a drift above 1e−10, and above 100 times that of
// a fresh fit, causes the state to be recomputed (Refreshes counts). A pivot
// below 1e−10 of its diagonal value counts as zero.
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
// Float64 throughout. Results do not depend on the number of cores.
package gpr
