// Package dkl implements deep kernel learning in front of GP-Tree (Achituve et
// al., "GP-Tree", ICML 2021, §3.3, algorithm 1 and appendix C): a Trainer trains a
// projection head g_θ, first under a softmax, then through the bounds of a tree's
// nodes, and returns a Projection. The backbone in front of the head is frozen.
//
//	symbol  here              shape  meaning
//	x       rows of x         n×d    embeddings of the frozen backbone
//	θ       Head.Theta        p      parameters of g_θ, W and b of its layers
//	z       rows of z         n×D    g_θ(x), the input of the kernel and the tree
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
// S is the identity if d = D and a trained D×d matrix otherwise. A linear head
// with residual needs d = D: a trained S would only duplicate W.
//
// Initial values: U is drawn as in He et al. 2015, N(0, 2/d), because a ReLU
// follows it. S and the W of a head without residual are semi-orthogonal (Saxe,
// McClelland, Ganguli 2014), so that a linear head with D ≥ d preserves every
// distance and starts as good as the embeddings. The W of a head with residual
// and all biases are 0, so that it starts as its skip alone (U changes from the
// second step on). V and c are 0: the first loss is log C, and θ also changes
// from the second step on.
//
// Phase 1 minimises the mean cross-entropy of softmax(V z + c):
//
//	L = −1/n Σ_i log p(y_i | z_i),   ∂L/∂logits = (p − onehot(y))/n
//
// Phase 2 builds the tree from the projected class means, puts inducing inputs
// on k-means centres of every class, and minimises the sum over the nodes of
// minus their bounds, each divided by its number of training examples (eq. 13,
// 15; package bound). A batch updates c, then (η, H) by a natural-gradient step,
// then (θ, X̄, φ) by one step of SGD. Gradients are hand-written: those of the
// bounds with respect to K_mm, K_nm and K_ii in package bound, those of the
// kernels with respect to z, X̄ and φ in package kernel, and that of z with respect
// to θ in Backward.
//
// In a model (model.Predictor) the base session trains g_θ and then the head
// behind it, held-out examples included; later sessions train nothing. Unless Keep
// is KeepAlways, it first trains on parts of the session, and leaves the projection
// out if the head behind it is not more accurate on the rest than the head alone. With
// Training.HandOver a gptree whose tree is built in the same way takes over the
// trained inducing inputs and kernel, as in the paper, and fits its posteriors to
// them; without it, gptree chooses its own. Whatever episodes choose inside the
// base session (a temperature, the settings of plda+, the novelty threshold) is
// chosen on projections that were trained on the same examples and classes, so
// their new classes are easier than those of later sessions.
//
// A Trainer scales embeddings to length √d, so that rates mean the same for any
// backbone. A share of every class is held out; the result is the head of the
// epoch with the best accuracy on it, in phase 2 if there is one. With augmented
// views, every epoch draws for every example either the example itself or one of
// its views.
//
// With Whiten a linear residual head starts as x ↦ √(tr Σ/d)·Σ^{−½}(x − μ), with Σ
// the shrunk covariance within base classes and μ the mean of their examples, so
// that kernels use the same distances as plda. This is not in the paper. The
// preset whiten does that and no training.
//
// Presets (Training): the paper's schedules for CUB, mini-ImageNet and CIFAR, and
// one with fewer epochs for frozen backbones, whose features are already good. An
// epoch of the latter has at least 20 steps, so that a few images are enough for
// the nodes' posteriors to leave their prior; a session of one batch passes over
// its images 20 times.
// Anchor pulls θ to its initial value; for a residual head, which starts as its
// skip, that is the identity.
//
// Cost: a step of phase 2 takes 2·n·d·D multiplications in a linear head, 1.5·M²·D
// + 3·n·M·D in the kernels, and the cost given in package bound; a step of phase 1
// takes 2·n·d·D + 3·n·D·C. A linear head takes n·d·D multiplications forward, as
// many for the gradient with respect to θ, and as many for that with respect to x
// if requested. A head is stateless between Forward and Backward: Backward
// recomputes the hidden layer, so both are safe for concurrent use and share no
// buffers. Parameters, gradients and momentum are float64.
//
// Training holds 3 vectors of the parameters and 5·Σm² values for the nodes.
//
// Repeatability: every sum has a fixed order for any number of threads, and draws
// come from one PCG stream per tensor: the same seed gives the same bytes.
//
// Deviations from the paper: it trains the whole network and has no separate
// head; widths, residual, anchor and initial values are ours. All nodes share one
// kernel (k_v of the paper may differ by node), which moves by the mean of the
// nodes' gradients. Between steps q(L⁻¹f̄) is held fixed, not q(f̄) (package
// bound). A node without examples in a batch is left out. Weight decay (1e-4, from
// the official code; the paper names none) is L2, added to the gradient of all
// parameters, biases included, as in PyTorch's SGD.
package dkl
