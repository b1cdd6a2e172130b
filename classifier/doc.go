// Package classifier defines the small interfaces that every classification
// head implements, and what holds for a prediction whatever the head. Heads see
// embeddings only, never images. Each method has a package below this one;
// classifiertest is the contract that all of them pass.
//
//	head, err := method.New("plda", method.Config{})
//	predictions, err := classifier.Predict(head, rows, 1)
//	fmt.Println(predictions[0].Label)
//
// Heads declare their further abilities by implementing the optional interfaces
// here, and callers ask with a type assertion. A projection in front of a head
// and a temperature behind it are fields of model.Predictor.
//
// Predict and Batches work for any head; LogSumExp, LogSoftmax and Entropy are
// accurate at any finite size of their input. The Check functions, Table and
// State are building blocks of heads: input validation that names the row, one
// value per class in column order, and arrays for saving.
package classifier
