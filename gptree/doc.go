// Package gptree holds the binary tree over classes of GP-Tree (Achituve,
// Navon, Yemini, Chechik, Fetaya, "GP-Tree: A Gaussian Process Classifier for
// Few-Shot Incremental Learning", ICML 2021): how it is built, read, grown,
// saved and drawn. Every internal node asks whether a class is to the left or
// to the right; the probability of a class is the product of the answers on
// the way from the root to its leaf (eq. 9).
//
//	symbol   here               shape    meaning
//	C        Tree.Classes       1        classes, numbered 0 … C−1 as in the columns of a head
//	v_i      split              C−1      internal node, numbered in preorder, the root is 0
//	P^c      Tree.Path          ≤ C−1    decisions from the root to the leaf of class c
//	y_vi     Decision.Left      1        whether the path goes left at v_i
//	C_l C_r  Tree.Split         –        the classes to the left and to the right of v_i
//	f_vi     log-odds           n×(C−1)  log p(left)/p(right) at v_i, in nats
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
// path to the node and the number of the restart. Neither threads nor what
// happens in another branch can change a split.
//
// Cost: KMeans takes O(C·d) per restart, iteration and level of the tree, the
// restarts in parallel, and O(C·d) memory; the other builders O(C log C) or
// less. LogProb takes O(C) exponentials a row. A tree takes 64 bytes a node.
//
// Deviations from the paper: it does not say how often k-means is restarted,
// 50 is what the official code does. Classes whose means point the same way
// cannot be told apart; they are split into halves in class order.
package gptree
