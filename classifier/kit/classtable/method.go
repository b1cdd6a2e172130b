package classtable

import (
	"context"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Method holds the functions of one method. S is what its classes share, C is
// one class. Functions that may be nil are documented as such.
type Method[S, C any] struct {
	// Name begins every error.
	Name string
	// Config is saved as JSON; Load creates the head from it.
	Config any
	// Unit scales embeddings to length 1.
	Unit bool
	// Base sets m.Shared from the base session, before any class is fitted. It
	// may be nil.
	Base func(ctx context.Context, m *Model[S, C], s *moments.Session) error
	// Fit returns a class after a change; old is the zero C for a new class. It
	// runs in parallel with other classes and must not write to m.
	Fit func(m *Model[S, C], old C, change Change) (C, error)
	// Pack moves the memory of some classes together, right after they were
	// fitted. It may be nil.
	Pack func(classes []C)
	// Settle updates what depends on several classes, after they have changed. s
	// is nil when classes or examples were forgotten; known is the number of
	// classes before, 0 for the base session. It may be nil.
	Settle func(ctx context.Context, m *Model[S, C], s *moments.Session, known int) error
	// Rescore prepares m.Shared for scoring; the classes in the given columns
	// have changed since the last call.
	Rescore func(m *Model[S, C], changed []int) error
	// Scoring returns how rows are scored; Method and Head are filled in. It may
	// be nil if the head has its own Score.
	Scoring func(m *Model[S, C]) classifier.Scoring
	// Count returns the number of examples of a class, which vanishes at 0. It
	// may be nil if classes lose no examples, or if Made is set.
	Count func(C) int
	// Join returns a class of the examples of two. It is nil if that takes more than
	// the classes.
	Join func(a, b C) C
	// Fields describes the tensors of a class for classifier.EncodeClasses.
	Fields func(c *classifier.Codec, m *Model[S, C], class *C)
	// Encode returns the tensors of m.Shared; the rest of S is saved as JSON. It
	// may be nil.
	Encode func(m *Model[S, C]) map[string]classifier.Tensor
	// Decode checks m.Shared, as decoded from JSON, and completes it, before n
	// classes are read. It may be nil.
	Decode func(m *Model[S, C], s classifier.State, n int) error

	// Made reports whether a class was fitted to these statistics. If it is set,
	// classes are fitted from Change.Stats, and these are stored for further
	// changes if Keep is set.
	Made func(c C, stats *moments.Moments) bool
	Keep bool
}

// A Change describes what happens to one class: it gains examples or loses
// them.
type Change struct {
	moments.Examples
	// Removed reports that the examples are removed.
	Removed bool
	// Stats holds the statistics after the change, for methods that fit from
	// them.
	Stats *moments.Moments
}

// Total returns the first moment after the change.
func (c Change) Total(before moments.Total) (moments.Total, error) {
	if c.Removed {
		return c.RemovedFrom(before)
	}
	return c.AddedTo(before), nil
}

// A Model is what a head has learned.
type Model[S, C any] struct {
	// Backend computes large products.
	Backend linalg.Backend
	// Dim is d, 0 before the base session.
	Dim     int
	Classes classifier.Table[C]
	Shared  S

	stats map[string]*moments.Moments // by class, for those that have them
}

// Clone returns an independent model; classes and statistics are shared, as
// they are only ever replaced.
func (m *Model[S, C]) Clone() *Model[S, C] {
	next := *m
	next.Classes = m.Classes.Clone()
	return &next
}

// Fitted reports whether there are classes.
func (m *Model[S, C]) Fitted() bool { return m.Classes.Len() > 0 }
