// Package dkl is deep kernel learning in front of GP-Tree (Achituve et al.,
// "GP-Tree", ICML 2021, §3.3, algorithm 1 and appendix C): a Trainer trains a
// projection head g_θ, first under a softmax, then through the bounds of a
// tree's nodes, and gives a Projection. The backbone in front of the head is
// frozen.
//
//	symbol  here              shape  meaning
//	x       rows of x         n×d    embeddings of the frozen backbone
//	θ       Head.Theta        p      parameters of g_θ, W and b of its layers
//	z       rows of z         n×D    g_θ(x), what the kernel and the tree see
//	V, c    Softmax.Theta     C×D+C  weights and biases of the linear classifier
//	∂L/∂z   gradZ             n×D    gradient of a loss with respect to z
//	X̄       objective.inducing M×D   inducing inputs, in the space of z, shared by all nodes
//	φ       objective.phi     2      log ℓ and log s of the kernel, shared by all nodes
//	η, H    package bound     –      natural parameters of q at every node
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
// Phase 2 builds the tree from the projected class means, puts inducing inputs
// on k-means centres of every class, and minimises the sum over the nodes of
// minus their bounds, each divided by its number of training examples (eq. 13,
// 15; package bound). A batch updates c, then (η, H) by a natural-gradient step,
// then (θ, X̄, φ) by one step of SGD. The gradient is by hand: of the bounds by
// K_mm, K_nm and K_ii (package bound), of these by z, X̄ and φ (package kernel),
// of z by θ (Backward).
//
// In a model (model.Predictor) the base session trains g_θ, and then teaches
// the head behind it, held-out examples included; later sessions train nothing.
// With Training.HandOver a gptree whose tree is built in the same way takes over
// the trained inducing inputs and kernel, as in the paper, and fits its
// posteriors to them; without, it chooses its own. What episodes choose inside
// the base session (a temperature, the settings of plda+, the novelty
// threshold), they choose on projections that were trained on those very
// examples and classes: their new classes are easier than those of later
// sessions.
//
// A Trainer sees embeddings scaled to length √d, so that rates mean the same
// for any backbone. Of every class a share is held out; what comes out is the
// head of the epoch with the best accuracy there, of phase 2 where there is one.
// With augmented views every epoch draws, for every example, itself or one of
// its views.
//
// With Whiten a linear residual head starts as x ↦ √(tr Σ/d)·Σ^{−½}(x − μ), Σ the
// covariance within base classes, shrunk, and μ the mean of their examples: it is
// not in the paper, and the kernels then see distances as plda does. The preset
// whiten is that and no training.
//
// Presets (Training): the paper's schedules for CUB, mini-ImageNet and CIFAR, and
// one for frozen backbones, whose features are good to begin with: fewer epochs.
// Anchor pulls θ to its start; for a residual head, which starts as its skip,
// that is the identity.
//
// Cost: a step of phase 2 takes 2·n·d·D multiplications in a linear head, 1.5·M²·D
// + 3·n·M·D in the kernels, and what package bound says; one of phase 1 2·n·d·D
// + 3·n·D·C. A linear head takes n·d·D multiplications forward, as many for the
// gradient of θ, and as many for that of x where it is asked for. A head is
// stateless between Forward and Backward: Backward computes the hidden layer
// again, in exchange for which both are safe for concurrent use and no buffer
// has an owner. All is float64: parameters, gradients and momentum.
//
// Training holds 3 vectors of the parameters and 5·Σm² values of the nodes.
//
// Repeatability: every sum has one order whatever the number of threads, and
// draws come from a PCG stream per tensor: the same seed gives the same bytes.
//
// Deviations from the paper: it trains the whole network and has no separate
// head; widths, residual, anchor and initial values are ours. One kernel serves
// all nodes (k_v of the paper may differ by node); it moves by the mean of the
// nodes' gradients. Between steps q(L⁻¹f̄) stays, not q(f̄) (package bound). A node
// of which a batch has no example sits it out. Weight decay (1e-4, from
// the official code; the paper names none) is L2, added to the gradient of all
// parameters, biases included, as PyTorch's SGD does.
package dkl
