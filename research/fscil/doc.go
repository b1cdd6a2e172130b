// Package fscil measures heads under a class-incremental protocol: a base
// session, then sessions of new classes, after each of which every class seen
// so far is tested.
//
// The package never sees image files: a [Protocol] says which image is learned
// or tested when, [Embeddings] hold the vectors, a [Bench] binds the two, and
// [Bench.Run] takes one head through all sessions. Only [New] and the functions
// built on it make a Protocol. They refuse anything that would inflate a
// result, so no run can use a leaking protocol:
//
//   - no test image in any training session, by path;
//   - no class in two sessions, no image in two sessions;
//   - one head, made once from one configuration, for all sessions;
//   - by content: in a protocol drawn here, the same image under two paths is
//     also an error. Published lists contain a few such images; they are
//     counted and reported with the result ([Duplicates]).
//
// A violation is a *[LeakError].
//
// Protocols: the benchmark's index lists (Tao et al. 2020, "Few-Shot
// Class-Incremental Learning") with [ReadLists]; the same sessions recorded in
// a feature folder with [Recorded]; N-way K-shot sessions drawn by seed from
// any class folder with [FewShot]; half of the classes followed by equal steps,
// all with all their images (Wang 2023, chapter 3) with [ClassIncremental].
//
// Metrics, all fractions except the negative log-likelihood (nats). α_j^k is
// the accuracy after session k on the test images of the classes of session j:
//
//   - accuracy over all test images so far; base accuracy α_1^k; novel accuracy
//     over the test images of sessions 2 … k; the harmonic mean of the two;
//   - average accuracy: the mean of the sessions' accuracies; performance drop:
//     the first minus the last;
//   - forgetting (Chaudhry et al. 2018; Achituve et al. 2021, D.3, whose text
//     omits the last term): the mean over j < k of max_{j ≤ l < k} α_j^l −
//     α_j^k, 0 after the first session. The average forgetting is that of the
//     last session;
//   - NLL and ECE as in package metrics.
//
// Cost of a run: the head's own, plus one copy of a training session and one
// batch of test rows in memory.
package fscil
