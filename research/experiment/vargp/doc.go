// Package vargp trains VAR-GP and the variants it is compared with (Kapoor,
// Karaletsos and Bui 2021) on a sequence of tasks and tests all tasks after
// each one: Figs. 1, 3, 4, 5, 6, 7 and 9 and the ablations of Table 1.
//
//	data      tasks
//	toy       four classes in the plane, two at a time (Fig. 2), drawn by seed
//	features  embeddings of the first session of fscil.…, classes drawn by seed
//	split     images of IDX files (MNIST), their classes in order
//	permuted  all classes of IDX files in each task, with a different pixel order per task; the first task unchanged
//
// For one seed, every variant gets the same data. There are two protocols:
//
//   - own: only classes seen so far have a head; new classes get clones of the
//     head for "none of these" (package classifier/vargp). Training stops early
//     on examples of the task itself and ends with the parameters of the best
//     epoch.
//   - paper: the number of classes is known in advance and every class has a
//     head from the first task on. Training stops early, by Algorithm 1, on
//     validation examples of all tasks so far; S starts at I.
//
// Accuracy considers only the classes seen so far; images of others count as
// mistakes. Entropy is that of the mean softmax over all heads, divided by the
// logarithm of their number, so that the two protocols are comparable.
//
// Every finished task of every run is saved with its model, and within a task
// the training state every few epochs. An interrupted run resumes from there
// and gives the same bits.
//
// With search, random combinations of the rate, M and β are tried first (Table 2),
// by the images held out of the training images of the first run.
//
// With network, the kernel acts on the output of a network that every task
// trains (Fig. 8, appendix B.3).
//
// Cost: see gp/vargp. Runs share the cores. On two cores the toy takes a
// minute, features ten to twenty minutes, and Split MNIST with the paper's
// settings days.
package vargp
