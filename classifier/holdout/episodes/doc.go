// Package episodes is how heads choose hyper-parameters that are set to auto:
// by pseudo-sessions inside the base session.
//
// In every split some base classes act as the classes of a later session,
// learned from a few of their examples; the others are learned from most of
// theirs. The criterion is the mean of two accuracies, on held-out examples of
// the former and of the latter, both in competition with all classes. (The
// accuracy or the likelihood of base classes alone prefers settings that
// recognise base classes best and later ones worst.)
//
// A choice cannot see test data: its only input is the base session of a head,
// and later sessions do not change it. The examples of a split are drawn by
// seed, class name and content, so that neither the order of the rows nor the
// number of cores makes a difference.
//
// Rule for near ties: among the candidates whose loss relative to the best is
// within one standard error of that loss over the splits (which are paired),
// the one with the lowest negative log-likelihood of the held-out examples
// wins; among equals, the first. Splits overlap, so the standard errors are
// somewhat too small.
//
// Too little data (fewer than four classes that have more than the number of
// shots) is a *TooLittleError; heads then use their documented default and
// record why (ChooseOr).
//
// Cost: per split one fit of what the candidates share, and per candidate the
// fit of what they do not share and the scores of TestPerClass examples of
// every class. Memory: the splits processed concurrently hold at most about 64
// Mi values of embeddings in addition to what the head needs, but at least one
// split is always processed.
package episodes
