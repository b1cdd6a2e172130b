// Package vargp is the head of VAR-GP (Kapoor, Karaletsos and Bui 2021): one
// Gaussian process per class, learned session by session. Each session has
// inducing inputs and a posterior that depends on those of earlier sessions.
// Package gp/vargp has the mathematics and the table of symbols.
//
//	f_c     head c+1   one function for each class, in column order
//	f_∅     head 0     the "unseen" function
//	Z_t     "z"        inducing inputs of session t: embeddings at first, then trained
//
// # The unseen head
//
// The official code knows the number of classes in advance and trains a
// function for each from the first task on; the functions of classes not yet
// seen learn to stay low at the examples of the others. As these functions are
// interchangeable, one is enough: the unseen head takes part in the softmax of
// every session, never as a label, and a new class starts as its clone. (In the
// softmax it counts once, not once per future class, whose number is unknown.)
//
//	log p(c|x)  = log of the mean softmax over draws of θ and f, over the classes
//	novelty(x)  = entropy of the same with the unseen head as one class more, nats
//
// # Few examples
//
// Raising a function near five images costs more divergence than five
// likelihoods gain, all the more if it learned in earlier sessions to be low at
// all their examples: by the bound it is optimal to learn nothing. So with
// Config.CountAs (100; the paper has none, 0) a session whose classes have n
// examples each by then, on average, is learned at temperature n/max(N, 100),
// where N is that average for the richest session so far (gp/vargp, cold
// posteriors): five examples count as that many. Sessions of similar size with
// 100 images per class or more, and further sessions of classes with many
// examples, are learned as in the paper. Heads that start at the prior instead,
// knowing nothing of earlier sessions, learn from five images
// too, but also claim images of old classes.
//
// # Sessions
//
// Each session, of new classes, old classes or both, is a task with its own
// inducing inputs (Config.Inducing per class, drawn from its examples) and a
// training run. A tenth of the examples of classes with ten or more is held out
// and decides when to stop; images of older sessions are not stored, so that
// nothing is ever chosen on them. A session learned again is a separate
// session: learning is not exact, and the order of sessions matters; that of
// examples within one does not. Nothing can be forgotten: what a class left in
// the hyper-posterior and in the other functions cannot be removed.
//
// With a checkpoint (classifier.Checkpoint) the state of a training run is
// saved about every twenty steps, and a run that was stopped resumes with the
// same result.
//
// A saved head contains inducing inputs, which start as embeddings.
//
// One class, one example, and duplicates are allowed. If no example can be held
// out for validation, training takes all its epochs.
//
// # Cost
//
// With M inducing inputs per session, n = ΣM, batch B and C classes: a step
// takes about 3·S·(n³/3 + n²B + nBd + (C+1)nMB/2) multiplications, S draws of θ
// (hyper_samples), twice that time forwards and backwards; memory S·n·M·B/2
// numbers. A prediction takes predict_hypers·(nd + n² + (C+1)·nM)
// multiplications. With own_inputs all but the last term is (C+1) times as
// much. The cost grows with the cube of the number of sessions: as the paper
// says, the method is for a moderate number of them. Fitting the temperature in
// episodes (classifier.temperature 0) trains the head several more times.
//
// # Deep kernel
//
// With network set, the kernel sees embeddings through a small network, trained
// with every session (appendix B.3 of the paper, which finds that it forgets
// more: gp/vargp). High learning rates switch its ReLUs off for good: use 0.01
// or less.
//
// # Deviations from the paper
//
// The unseen head; few examples that count as many; early stopping on the
// session's own held-out examples, using the best epoch; S_t starts at the
// prior's covariance; inducing inputs shared by all classes unless own_inputs.
// Experiment kind vargp has the paper's protocol.
package vargp
