// Package metrics compares predictions with the truth: accuracy, balanced
// accuracy, per-class accuracy and the confusion matrix, negative
// log-likelihood, calibration error and the detection of unknown classes.
//
// All metrics are fractions 0–1 except the negative log-likelihood, which is in
// nats:
//
//   - Samples of classes that the model knows enter every metric and are the
//     negatives of the AUROC. Samples of other classes only enter the AUROC, as
//     positives. Samples without a label are counted and otherwise ignored.
//   - Balanced accuracy is the mean of the accuracies of the classes that occur
//     (scikit-learn's balanced_accuracy_score).
//   - NLL is the mean of −log p(true class), each term capped at [MaxNLLNats],
//     so that a probability of zero leaves the mean finite.
//   - ECE (Guo et al. 2017, "On Calibration of Modern Neural Networks", eq. 3)
//     has [Bins] = 15 bins of equal width over the highest probability p; bin b
//     of 0…14 holds b/15 < p ≤ (b+1)/15.
//   - AUROC is the chance that a sample of an unknown class has a higher novelty
//     than one of a known class, ties counting half.
//
// Ties for the highest probability go to the first column.
package metrics
