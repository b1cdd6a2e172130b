// Package vargp lets VAR-GP and what its paper compares it with (Kapoor,
// Karaletsos and Bui 2021) learn tasks one after the other and tests all tasks
// after each: Figs. 1, 3, 4, 5, 6, 7 and 9 and the ablations of Table 1.
//
//	data      tasks
//	toy       four classes in the plane, two at a time (Fig. 2), drawn by seed
//	features  embeddings of the first session of fscil.…, classes drawn by seed
//	split     images of IDX files (MNIST), their classes in order
//	permuted  all classes of IDX files in each task, pixels in an order of its own; the first as it is
//
// Every variant meets the same data of a seed. Two protocols:
//
//   - own: only classes that came have a head, and one that is none of them is
//     cloned for those that come (package classifier/vargp); training stops by
//     examples of the task itself, and the best epoch stays.
//   - paper: the number of classes is known in advance and every class has a
//     head from the first task on; training stops, by Algorithm 1, by
//     validation examples of all tasks so far; S starts at I.
//
// Accuracy is among the classes that came; images of others are mistakes.
// Entropy is that of the mean softmax over all heads, as a share of the
// logarithm of their number, so that both protocols can be read alike.
//
// Every task of every run is kept when it is finished, with its model, and
// within a task its training every few epochs: a run that was stopped goes on
// from there, to the same bits.
//
// With network the kernel is behind a network that every task trains (Fig. 8,
// appendix B.3).
//
// Cost: see gp/vargp. Runs share the cores. The toy takes a minute, features ten
// to twenty; Split MNIST with the paper's settings days on two cores.
package vargp
