package dataset

import (
	"context"
	"iter"
	"maps"
	"slices"
)

// A Source yields the samples of a folder or list in path order. A Source from
// Walk does not store them, so its memory does not grow with their number.
type Source struct {
	root string
	n    int
	pass func(ctx context.Context, out *Listing, yield func(Sample) bool) error

	found Listing
	err   error
}

// Source returns a Source of the listing's samples.
func (l Listing) Source() *Source {
	return &Source{root: l.Root, n: len(l.Samples), found: l.outcome(),
		pass: func(ctx context.Context, out *Listing, yield func(Sample) bool) error {
			*out = l.outcome()
			for _, s := range l.Samples {
				if err := ctx.Err(); err != nil {
					return err
				}
				if !yield(s) {
					return nil
				}
			}
			return nil
		}}
}

// outcome returns a copy of the listing without its samples.
func (l Listing) outcome() Listing {
	out := Listing{Root: l.Root, Problems: slices.Clone(l.Problems), Skipped: map[string]int{}, Merged: l.Merged,
		Guessed: l.Guessed, Predicted: l.Predicted, LeftOut: l.LeftOut.clone()}
	maps.Copy(out.Skipped, l.Skipped)
	return out
}

// Root returns the folder that paths are relative to.
func (s *Source) Root() string { return s.root }

// Len returns the number of samples found when the Source was created.
func (s *Source) Len() int { return s.n }

// Samples yields the samples sorted by the bytes of their paths. It stops early
// when ctx is cancelled, and Outcome then returns the error.
func (s *Source) Samples(ctx context.Context) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		s.found = newListing(s.root)
		s.err = s.pass(ctx, &s.found, yield)
		s.found.sort()
	}
}

// Outcome returns, after Samples has ended, the problems, what was skipped, and
// the error that stopped it. Before that it returns what the first pass found,
// with the classes that it merged.
func (s *Source) Outcome() (Listing, error) { return s.found, s.err }
