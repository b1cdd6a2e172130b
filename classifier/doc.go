// Package classifier holds the small interfaces that every classification
// head implements, and what can be said of a prediction without knowing the
// head. Heads see embeddings only, never images. One package per method lives
// beneath this one; classifiertest is the contract that all of them pass.
//
// What a head can do beside is found with As, which looks through wrappers such
// as a temperature (package tempered).
//
// Predict and Batches answer for any head; LogSumExp, LogSoftmax and Entropy
// hold at any finite size of their input. The Check functions, Table and
// State are what heads are made of: input validation that names the row, a
// value per class in column order, and arrays at rest.
package classifier
