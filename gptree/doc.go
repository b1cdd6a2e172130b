// Package gptree implements GP-Tree (Achituve, Navon, Yemini, Chechik, Fetaya,
// "GP-Tree: A Gaussian Process Classifier for Few-Shot Incremental Learning", ICML
// 2021): a classifier (GPTree), and the binary tree over its classes (Tree) with
// functions to build, read, grow and save it. Every internal node decides between
// its left and right classes; the probability of a class is the product of the
// decisions on the path from the root to its leaf (eq. 9).
//
//	symbol   here               shape    meaning
//	C        Tree.Classes       1        classes, numbered 0 … C−1 as in the columns of a head
//	v_i      split              C−1      internal node, numbered in preorder from the root, 0
//	P^c      Tree.Path          ≤ C−1    decisions from the root to the leaf of class c
//	y_vi     Decision.Left      1        whether the path goes left at v_i
//	C_l C_r  Tree.Split         –        the classes to the left and to the right of v_i
//	f_vi     log-odds           n×(C−1)  log p(left)/p(right) at v_i, in nats
//	m_vi     mean.logOdds       n×(C−1)  prior mean of f_vi
//
//	X̄        member.rows        M×d      inducing inputs of base classes, embeddings of novel ones
//	m̃, S̃     vi.nodes           –        q(f̄) of every base split (package gp)
//	ω        gp.Gibbs           chains×n Pólya-Gamma variables of every other split
//
// # The mean
//
// The paper writes f_v ~ GP(m_v, k_v) and sets m_v = 0. Here m_v is by default the
// log-odds of a generative head, plda or plda+ (Config.Mean), that has learned the
// same examples,
//
//	m_v(x) = log Σ_{c in C_l} p(c|x)^(1/T) − log Σ_{c in C_r} p(c|x)^(1/T)
//
// Without residual and bias the product over the path telescopes to that head's
// probabilities at temperature T, whatever the tree; the Gaussian processes g = f − m
// model what the head gets wrong. MeanZero is the paper's, and that of the baselines
// gptree-random and sbm.
//
// An example that the head has learned from would look easier than it is. So examples
// are left out, in ten folds (three if a class has more than 20 examples), and copies of
// the head that have learned the rest give their m_v; nothing of a left-out example is
// in its means, covariances or trace. The class of an example that is alone in it has
// then no example (n = 0), whose density is that of any new class; such examples take
// no part in the choices below. T maximises the probability of the left-out
// examples of the base session (package temperature). Settings that the head chooses
// by pseudo-sessions (ν, κ, T, b and g of plda+; ε) are chosen once, on all examples:
// choosing them is most of the fit of plda+, and a handful of numbers chosen on
// thousands of examples says next to nothing about one of them. The temperature that
// the program fits to any head is fitted in the same way (classifier.Unfitter).
//
// The residual of a session fitted by VI stays only if it raises the log-probability
// of left-out examples, the sum of their nodes' LeaveOneOut, by more than its standard
// error; likewise that of the sampled nodes of one tree. It has to do so both against
// the mean at its T and against the mean at the T that suits those examples best:
// otherwise it could stay in the tree of later classes only because T, of the base
// session, is wrong for classes of few examples. Otherwise the mean alone
// decides in that part. One decision for all nodes of a part, because a node that is
// softened by its residual beside others that are not shifts the balance of their
// classes: decided node by node, accuracy was lower by up to 0.7 points on CLIP
// features. The bound is no criterion: with a few inducing inputs it is hundreds of
// nats below what left-out examples show. Roots over sessions have no residual, as what
// they would learn from, inducing inputs on one side, are no photos.
//
// The kernel sees embeddings as with the zero mean. Whitened by the covariance within
// classes (that of plda) it was worse by up to 0.9 points on CLIP features.
//
// The novelty is that of the head.
//
// # The classifier
//
// The base session fits a binary Gaussian process at every split: by
// variational inference on inducing inputs (Config.Base vi: k-means centres of
// every class, shared by all nodes; full-batch steps), after which only the
// inducing inputs are stored, or by Gibbs sampling (gibbs), which stores every
// example. Later sessions leave the base tree unchanged (§3.4): a new root joins
// it to a tree over all novel classes, built from their stored embeddings. The
// nodes of that tree and the root, which has the inducing inputs on its left side,
// are sampled again. Nothing is trained. Config.Growth selects the variants of
// Table 4. A later session with more than Config.MaxPerClass examples of a class
// is too large for that: it is fitted once by VI, like the base session, and gets
// a separate root (end of §3.4).
//
// Under vi, classes of sessions fitted by VI take no more examples and cannot be
// forgotten. All other classes can be extended and forgotten, and the result is
// bit for bit that of a head that learned only the remaining examples. Gibbs nodes
// hold n×n matrices, so a class may have at most Config.MaxPerClass examples in
// them.
//
// The root compares inducing inputs with a few images, and both its sides are
// spread over many clusters: Config.RootBias shifts its decision,
// Config.RootLengthscale gives it a separate length-scale, and Config.Calibrate
// chooses both by episodes inside the base session (package
// classifier/holdout/episodes).
//
// With the zero mean, novelty is the variance of the latent function relative to its prior, averaged
// over the path to the most probable class. With a linear kernel on inputs of
// length 1 it cannot distinguish x from −x.
//
// A saved head contains the embeddings of novel classes (of all, under gibbs)
// and the inducing inputs of base ones.
//
// Small data is well defined: a single class has no nodes and probability 1, one
// example per class and duplicates are allowed, and K_mm gets jitter if inducing
// inputs nearly coincide.
//
// # The tree
//
// Builders:
//
//   - KMeans (§3.1): recursive 2-means on class means of length 1.
//   - RandomBalanced: the paper's "GP-Tree Rnd".
//   - StickBreaking (eq. 8): class k against all later ones, as in SBM-GP.
//
// A Tree is immutable. Its order is canonical: the child that holds the smallest
// class is the left one, so that trees with the same nested sets of classes are
// equal, and Join (§3.4) always has the base on the left.
//
// Randomness: every node draws from PCG streams derived from the seed, the path
// to the node and the number of the restart; Gibbs nodes use the seed, the number
// of the split within its session's tree and that of the chain. A split depends
// neither on threads nor on other branches.
//
// # Cost
//
// With M inducing inputs and n examples in total, a base session by VI takes
// about 2·nM² multiplications per step (4/3 of the root's share if the tree is
// balanced) and 8·nM·2 bytes; Gibbs nodes take n³/6 + 60·chains·steps·n² at the root
// and, before the first prediction or if there is a mean, chains·n³/3.
// A prediction takes 2M² and chains·n² multiplications per row at the root.
// The mean adds eleven fits of its head (four in large sessions) and, per row, one
// of its predictions.
//
// KMeans takes O(C·d) per restart, iteration and level of the tree, with the
// restarts in parallel, and O(C·d) memory; the other builders take O(C log C) or
// less. LogProb takes O(C) exponentials per row. A tree takes 64 bytes per node.
//
// # Deviations from the paper
//
// The base session is fitted by full-batch coordinate ascent instead of
// mini-batches with a rate of 0.05: the bound never falls, and there is nothing
// to tune. Inducing inputs stay where k-means put them, and hyper-parameters are
// not trained. The paper does not say how often k-means is restarted; here 50
// times, as in the official code. Classes whose means point in the same direction
// cannot be separated; they are split into halves in class order.
package gptree
