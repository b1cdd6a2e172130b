// Package gptree is GP-Tree (Achituve, Navon, Yemini, Chechik, Fetaya, "GP-Tree:
// A Gaussian Process Classifier for Few-Shot Incremental Learning", ICML 2021):
// a classifier (GPTree), and the binary tree over its classes (Tree), how that
// is built, read, grown and saved. Every internal node asks whether a
// class is to the left or to the right; the probability of a class is the
// product of the answers on the way from the root to its leaf (eq. 9).
//
//	symbol   here               shape    meaning
//	C        Tree.Classes       1        classes, numbered 0 … C−1 as in the columns of a head
//	v_i      split              C−1      internal node, numbered in preorder, the root is 0
//	P^c      Tree.Path          ≤ C−1    decisions from the root to the leaf of class c
//	y_vi     Decision.Left      1        whether the path goes left at v_i
//	C_l C_r  Tree.Split         –        the classes to the left and to the right of v_i
//	f_vi     log-odds           n×(C−1)  log p(left)/p(right) at v_i, in nats
//
//	X̄        member.rows        M×d      inducing inputs of base classes, embeddings of novel ones
//	m̃, S̃     vi.nodes           –        q(f̄) of every base split (package gp)
//	ω        gp.Gibbs           chains×n Pólya-Gamma variables of every other split
//
// # The classifier
//
// The base session fits a binary Gaussian process at every split: by
// variational inference on inducing inputs (Config.Base vi: k-means centres of
// every class, shared by all nodes; full-batch steps), after which only the
// inducing inputs are kept, or by Gibbs sampling (gibbs), which keeps every
// example. Later sessions leave the base tree as it is (§3.4): a tree over all
// novel classes, from their kept embeddings, goes under a new root next to it,
// and its nodes and the root, whose left side are the inducing inputs, are
// sampled again. Nothing is trained. Config.Growth has the variants of Table 4.
// A later session with more than Config.MaxPerClass examples of a class is too
// large for that: it is fitted by VI as the base session was, stays as it is,
// and gets a root of its own (end of §3.4).
//
// Under vi, classes of sessions fitted so take no more examples and are not forgotten; all
// other classes do and are, and the result is bit for bit that of a head which
// learned what is left. Gibbs nodes hold n×n matrices: a class may have at most
// Config.MaxPerClass examples in them.
//
// The root weighs base against novel from inducing inputs against a few
// images, and either side is spread over many places: Config.RootBias shifts
// it, Config.RootLengthscale gives it a kernel of its own, Config.Calibrate
// chooses both by episodes inside the base session (package
// classifier/episodes).
//
// Novelty is the variance of the latent function relative to its prior, averaged
// over the path to the most probable class. With a linear kernel on inputs of
// length 1 it cannot tell x from −x.
//
// A saved head contains the embeddings of novel classes (of all, under gibbs)
// and the inducing inputs of base ones.
//
// Little data is defined: one class has no nodes and probability 1, one
// example a class and duplicates are legal, K_mm gets jitter where inducing
// inputs nearly agree.
//
// # The tree
//
// Builders:
//
//   - KMeans (§3.1): recursive 2-means on class means of length 1.
//   - RandomBalanced: the paper's "GP-Tree Rnd".
//   - StickBreaking (eq. 8): class k against all later ones; SBM-GP is this tree.
//
// A Tree never changes once built. Its order is canonical: the child that
// holds the smallest class is the left one, so that two trees with the same
// nested sets of classes are the same value, and Join (§3.4) always has the
// base to the left.
//
// Randomness: every node draws from PCG streams derived from the seed, the
// path to the node and the number of the restart; Gibbs nodes from the seed,
// the number of the split within its session's tree and that of the chain.
// Neither threads nor what happens in another branch can change a split.
//
// # Cost
//
// With M inducing inputs and n examples in all, a base session by VI takes
// about 2·nM² multiplications a step (4/3 of the root's where trees are
// balanced) and 8·nM·2 bytes; Gibbs nodes, chains·(steps+1)·n³/3 at the root.
// A prediction takes 2M² and chains·n² multiplications a row, at the root
// likewise.
//
// KMeans takes O(C·d) per restart, iteration and level of the tree, the
// restarts in parallel, and O(C·d) memory; the other builders O(C log C) or
// less. LogProb takes O(C) exponentials a row. A tree takes 64 bytes a node.
//
// # Deviations from the paper
//
// The base session is fitted by full-batch coordinate ascent instead of
// mini-batches with a rate of 0.05: the bound never falls, and there is nothing
// to tune. Inducing inputs stay where k-means put them, and hyper-parameters
// where they were set. The paper does not say how often k-means is restarted:
// 50 times, as in the official code. Classes whose means point the same way
// cannot be told apart; they are split into halves in class order.
package gptree
