// Package projected puts a trained projection in front of any head: deep kernel
// learning (Achituve et al., "GP-Tree", ICML 2021, §3.3; package dkl).
//
//	log p(c|x) = that of the head within at g_θ(x)
//
//	symbol  field             shape  meaning
//	x       –                 n×d    embeddings of the frozen backbone
//	g_θ     Head.projection   d → D  trained on the base session, then fixed
//	g_θ(x)  –                 n×D    float32: what the head within learns and sees
//
// The base session trains g_θ through the bounds of a tree of Gaussian
// processes, then teaches the head within, held-out examples included. Later
// sessions train nothing. With Training.HandOver a gptree whose tree is built in
// the same way takes over the trained inducing inputs and kernel, as in the
// paper, and fits its posteriors anew; without, it makes its own.
//
// What pseudo-sessions choose inside the base session (a temperature, the
// settings of plda+, the novelty threshold), they choose on projections that
// were trained on those very examples and classes: their new classes are
// easier than those of later sessions.
//
// Cost: the training, once; d·D multiplications an example after that.
package projected
