// Package classifier holds the small interfaces that every classification
// head implements, and what can be said of a prediction without knowing the
// head. Heads see embeddings only, never images. One package per method lives
// beneath this one; classifiertest is the contract that all of them pass.
//
// What else a head can do it says by implementing the optional interfaces here,
// and callers ask with a type assertion. A projection in front of a head and a
// temperature behind it are fields of model.Predictor.
//
// Predict and Batches answer for any head; LogSumExp, LogSoftmax and Entropy
// hold at any finite size of their input. The Check functions, Table and
// State are what heads are made of: input validation that names the row, a
// value per class in column order, and arrays at rest.
package classifier
