package dataset

import (
	"context"
	"iter"
)

// A Source hands out the samples of a folder or list in path order. One that
// comes from Walk keeps none of them, so that its memory does not grow with
// their number.
type Source struct {
	root string
	n    int
	pass func(ctx context.Context, out *Listing, yield func(Sample) bool) error

	found Listing
	err   error
}

// Source hands out the samples of a listing.
func (l Listing) Source() *Source {
	return &Source{root: l.Root, n: len(l.Samples), found: l.outcome(), pass: func(ctx context.Context, out *Listing, yield func(Sample) bool) error {
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

// outcome is a listing without its samples, sharing nothing that is written to.
func (l Listing) outcome() Listing {
	out := newListing(l.Root)
	out.Problems = append(out.Problems, l.Problems...)
	for kind, n := range l.Skipped {
		out.Skipped[kind] = n
	}
	return out
}

// Root is the folder that paths are relative to.
func (s *Source) Root() string { return s.root }

// Len is the number of samples that were there when the source was made.
func (s *Source) Len() int { return s.n }

// Samples yields the samples sorted by the bytes of their paths. It ends early
// when ctx does; Outcome says so.
func (s *Source) Samples(ctx context.Context) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		s.found = newListing(s.root)
		s.err = s.pass(ctx, &s.found, yield)
		s.found.sort()
	}
}

// Outcome returns, after Samples has ended, the problems and what was skipped,
// and what stopped it. Before that it tells what the first look found.
func (s *Source) Outcome() (Listing, error) { return s.found, s.err }
