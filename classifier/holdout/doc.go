// Package holdout decides which examples are held out together, and when.
//
// Photos of people come in bursts, from one shelf, from one station: an example is
// often nearly a copy of another of its class. A head that has learned the one names
// the other better than it names photos of another occasion, so whatever is found out
// on held-out examples (a temperature, a threshold, a setting, the accuracy to expect)
// is found out with groups of like examples held out whole (Groups).
//
// How alike is alike: the examples of a class are clustered by complete linkage, in the
// space of the embeddings scaled to length 1, and the tree is cut at 0.7 times the median
// distance of two examples of the class. The cut has no unit and needs no constant of a
// backbone; complete linkage never chains a class, since no two examples of a group are
// farther apart than the cut. Exact copies always are one group, and so are photos that one
// camera took at most half an hour after one another (Occasions), however they differ:
// clustering begins with these. docs/results/promises.md has what it gives on shelves, bursts
// and sets without either.
//
// Everything here depends on the content of the examples, not on their order (Order).
package holdout
