// Package episodes is the one mechanism by which heads choose hyper-parameters
// that are set to auto: pseudo-sessions inside the base session.
//
// In every split some base classes play classes of a later session, learned
// from a few of their examples; the others are learned from most of theirs.
// The criterion is the mean of two accuracies, that on held-out examples of
// the one and of the other kind, both in competition with all classes. (The
// accuracy or the likelihood of base classes alone prefers settings that
// recognise base classes best and later ones worst.)
//
// A choice cannot see test data: its only input is what a head was given as
// its base session. Nor do later sessions change it. The examples of a split
// are drawn by seed, name of the class and content, so that the order of the
// rows makes no difference, nor does the number of cores.
//
// Rule for near ties: of the candidates whose loss against the best is within
// one standard error of that loss over the splits (which are paired), the one
// with the least negative log-likelihood of the held-out examples; of equals,
// the first. Splits overlap, so the standard errors are somewhat too small.
//
// Too little data (fewer than four classes that have more than the number of
// shots) is a *TooLittleError; heads then keep their documented default and
// record why (ChooseOr).
//
// Cost: per split one fit of what the candidates share, and per candidate what
// they do not share plus scoring TestPerClass examples of every class. Memory:
// the splits in work at the same time hold at most about 64 Mi values of
// embeddings beside what the head needs, but there is always one.
package episodes
