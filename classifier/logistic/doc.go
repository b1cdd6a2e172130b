// Package logistic trains multinomial logistic regressions by a fixed number of
// steps of L-BFGS (Nocedal and Wright 2006, chapter 7) from zero; stopping
// early is part of their regularisation.
//
// Weights are one vector: for each class d numbers and a constant. Losses are in
// nats. Large products are in float32, sums in float64; nothing depends on the
// number of cores.
package logistic
