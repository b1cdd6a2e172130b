// Package method is the registry of methods: it finds them by name, creates
// heads from settings and loads them from a State.
//
//	head, err := method.New("plda", method.Config{})
//	predictions, err := classifier.Predict(head, rows, 1)
package method
