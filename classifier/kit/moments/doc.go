// Package moments holds the mergeable statistics of one class: count, mean and
// centred second moments, from which every Gaussian head is fitted.
//
//	n   number of examples          Moments.N
//	μ   mean, d                     Moments.Mean
//	M2  Σ (x−μ)(x−μ)ᵀ, d×d           Moments.Covariance = M2/(n−1)
//
// While n ≤ d the thin factor, the float32 rows themselves, is stored: it is
// exact and smaller than M2. Beyond that M2 is stored as d(d+1)/2 float64
// values and updated by the pairwise formula of Chan, Golub and LeVeque (1979).
// Adding in any order, in pieces, on several machines (Merge), or adding and
// removing again give results that agree to about 1e−12 relative to the squared
// length of the data.
//
// Cost: Add and Remove are O(d) per row in the thin form and O(d²) in the full
// one; TopEigen is O(n²d) in the thin form and O(d²q) per sweep in the full
// one.
//
// The thin form contains the embeddings, and so does every file it is saved to.
package moments
