package exemplars

import "github.com/seed-90d10d51/pipeline/classifier"

// A Store is what a head knows of its examples. Heads embed it.
type Store struct {
	// Frame is that of all embeddings that come in.
	Frame classifier.Frame
	// All holds the examples, in the frame.
	All Table
}

// Classes implements classifier.Head.
func (s *Store) Classes() []string { return s.All.Classes }

// Dim implements classifier.Head.
func (s *Store) Dim() int { return s.All.X.Cols }
