// Package dkl holds what deep kernel learning trains in front of GP-Tree: the
// projection head g_θ, the softmax classifier of the cross-entropy phase, and
// the optimiser of both (Achituve et al., "GP-Tree", ICML 2021, §3.3 and
// appendix C). The backbone in front of the head is frozen.
//
//	symbol  here              shape  meaning
//	x       rows of x         n×d    embeddings of the frozen backbone
//	θ       Head.Theta        p      parameters of g_θ, W and b of its layers
//	z       rows of z         n×D    g_θ(x), what the kernel and the tree see
//	V, c    Softmax.Theta     C×D+C  weights and biases of the linear classifier
//	∂L/∂z   gradZ             n×D    gradient of a loss with respect to z
//	v       SGD               p      momentum
//
//	linear           z = W x + b
//	hidden           z = W relu(U x + a) + b
//	hidden residual  z = W relu(U x + a) + b + S x
//	linear residual  z = W x + b + x
//
// S is the identity where d = D, a trained D×d matrix elsewhere. A linear head
// with residual needs d = D: with a trained S it would be two matrices for one.
//
// Start: U is drawn as He et al. 2015 propose, N(0, 2/d), because a ReLU
// follows it; S and the W of a head without residual are semi-orthogonal (Saxe,
// McClelland, Ganguli 2014), so that a linear head with D ≥ d keeps every
// distance and starts as good as the embeddings; the W of a head with residual
// and all biases are 0, so that it starts as its skip alone (U moves from the
// second step on). V and c are 0: the first loss is log C, and θ too moves from
// the second step on.
//
// Phase 1 minimises the mean cross-entropy of softmax(V z + c):
//
//	L = −1/n Σ_i log p(y_i | z_i),   ∂L/∂logits = (p − onehot(y))/n
//
// Phase 2 replaces the softmax by the sum of the bounds of the tree's nodes
// (eq. 13, 15); it needs nothing of a head but Forward and Backward.
//
// Cost: a linear head takes n·d·D multiplications forward, as many for the
// gradient of θ, and as many for that of x where it is asked for. A head is
// stateless between Forward and Backward: Backward computes the hidden layer
// again, in exchange for which both are safe for concurrent use and no buffer
// has an owner. All is float64: parameters, gradients and momentum.
//
// Repeatability: every sum has one order whatever the number of threads, and
// draws come from a PCG stream per tensor: the same seed gives the same bytes.
//
// Deviations from the paper: it trains the whole network and has no separate
// head; widths, residual and initial values are ours. Weight decay (1e-4, from
// the official code; the paper names none) is L2, added to the gradient of all
// parameters, biases included, as PyTorch's SGD does.
package dkl
