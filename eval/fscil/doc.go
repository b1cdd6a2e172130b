// Package fscil measures heads under a class-incremental protocol: a base
// session, then sessions of new classes, after each of which every class seen
// so far is tested.
//
// bytes never come in here: a [Protocol] says which image is learned or tested
// when, [Embeddings] hold the vectors, a [Bench] is both bound together, and
// [Bench.Run] takes one head through all sessions. A Protocol can only be made
// by [New] and its relatives, which refuse whatever would flatter a result, so
// that a run over a leaking protocol cannot be written:
//
//   - no test image in any training session, by path;
//   - no class in two sessions, no image in two sessions;
//   - one head, made once from one configuration, for all sessions;
//   - by content: in a protocol that was drawn here, the same image under two
//     paths is an error as well. Published lists contain a few such images;
//     they are counted and reported with the result ([Duplicates]).
//
// A violation is a *[LeakError].
//
// Protocols: the benchmark's index lists (Tao et al. 2020, "Few-Shot
// Class-Incremental Learning") with [ReadLists]; the same sessions recorded in a
// feature folder with [Recorded]; N-way K-shot sessions drawn by seed from any
// class folder with [FewShot]; half of the classes and then equal steps with all
// their images (Wang 2023, chapter 3) with [ClassIncremental].
//
// Metrics, all fractions but the negative log-likelihood (nats). α_j^k is the
// accuracy after session k on the test images of the classes of session j:
//
//   - accuracy over all test images so far; base accuracy α_1^k; novel accuracy
//     over the test images of sessions 2 … k; the harmonic mean of the two;
//   - average accuracy: the mean of the sessions' accuracies; performance drop:
//     the first one minus the last;
//   - forgetting (Chaudhry et al. 2018; Achituve et al. 2021, D.3, whose text
//     loses the last term): the mean over j < k of max_{j ≤ l < k} α_j^l − α_j^k,
//     0 after the first session. The average forgetting is that of the last
//     session;
//   - NLL and ECE as in package metrics.
//
// Cost of a run: the head's own, plus one copy of a training session and one
// batch of test rows in memory.
package fscil
