// Package vargp is the head of VAR-GP (Kapoor, Karaletsos and Bui 2021): one
// Gaussian process a class, learned session by session, with inducing inputs
// and a posterior for each session that depend on those before. Package
// gp/vargp has the mathematics and the table of symbols.
//
//	f_c     head c+1   one function for each class, in column order
//	f_∅     head 0     the "unseen" function
//	Z_t     "z"        inducing inputs of session t: embeddings at first, then trained
//
// # The unseen head
//
// The official code knows the number of classes in advance and trains a function
// for each from the first task on; those of classes that have not come learn to
// stay low where the others' examples are. As they are all alike, one is enough:
// the unseen head takes part in the softmax of every session, never as a label,
// and a class that arrives starts as its clone. (In the softmax it counts once,
// not once for every class to come, whose number nobody knows.)
//
//	log p(c|x)  = log of the mean softmax over draws of θ and f, over the classes
//	novelty(x)  = entropy of the same with the unseen head as one class more, nats
//
// # Few examples
//
// To raise a function near five images costs more divergence than five
// likelihoods gain, all the more where it has learned in earlier sessions to be
// low at all their examples: by the bound it is right to learn nothing. So with
// Config.CountAs (100; the paper has none, 0) a session whose classes have n
// examples each by then, on average, where those of the richest session had N, is
// learned at temperature n/max(N, 100) (gp/vargp, cold posteriors): five count
// as many. Sessions of 100 images a class and more that are alike in size, and
// more of classes that have many, are learned as in the paper.
// Heads that start at the prior instead, knowing nothing of earlier sessions,
// learn from five images too but take the old classes' images.
//
// # Sessions
//
// Each session, of new classes, old classes or both, is a task: inducing inputs
// for it (Config.Inducing a class, drawn from its examples), and a training run.
// A tenth of the examples of classes with ten or more is held out of it and says
// when to stop; nothing is ever chosen on images of older sessions, which are
// not kept. Sessions learned again are sessions of their own: learning is not
// exact, and the order of sessions matters; that of examples within one does
// not. Nothing can be forgotten: what a class left in the hyper-posterior and in
// the other functions cannot be taken out.
//
// With a checkpoint (classifier.Checkpoint) the state of a training is kept after every
// twenty steps or so, and one that was stopped goes on to the same result.
//
// A saved head contains inducing inputs, which begin as embeddings.
//
// One class, one example, and duplicates are legal. Where no example can be
// spared for validation, training takes all its epochs.
//
// # Cost
//
// With M inducing inputs a session, n = ΣM, batch B and C classes: a step takes
// about 3·S·(n³/3 + n²B + nBd + (C+1)nMB/2) multiplications, S draws of θ
// (hyper_samples), twice that time forwards and backwards; memory S·n·M·B/2
// numbers. A prediction takes predict_hypers·(nd + n² + (C+1)·nM)
// multiplications. With own_inputs all but the last term is (C+1) times as much.
// So it grows with the cube of the number of sessions: a method for a moderate
// number of them, as the paper says. A temperature fitted by pseudo-sessions
// (classifier.temperature 0) trains the head several times more.
//
// # Deep kernel
//
// With network the kernel sees embeddings through a small network, trained with
// every session (appendix B.3 of the paper, which finds that it forgets more:
// gp/vargp). High rates switch its relus off for good: 0.01 and less.
//
// # Deviations from the paper
//
// The unseen head; few examples that count as many; early stopping on the session's own slice, keeping the best
// epoch; S_t starts at the prior's covariance; inducing inputs shared by all
// classes unless own_inputs. Experiment kind vargp has the paper's protocol.
package vargp
