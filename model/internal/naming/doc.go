// Package naming chooses how much the names of classes count beside their examples, by
// leaving examples out.
//
// A head with words (gauss.Words) scores a class by its density, in which the text t of the
// name counts as ν examples at m₀ + a(t−t̄), plus ω times the score 100·t·x that the network of
// texts was trained for. The text is a noisy view of the mean of the class, and a view of
// the direction that tells the class from the others: it is used as both.
//
// Examples are left out in ten folds of everything that is estimated, the only example of
// a class too, which then has its name alone. ν (0, 1, 2), ω and the temperature are those
// with the highest likelihood of the examples. If names say nothing, ν and ω are 0, and the head
// is as it is without them.
//
// A name is doubted, and set aside, if its score, at the temperature that suits the
// scores of all names, makes the examples of its class less probable than chance does: a wrong name,
// a translation that the network does not know, or a number.
//
// Measured in docs/results/words.md.
package naming
