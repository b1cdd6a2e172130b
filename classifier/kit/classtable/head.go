package classtable

import (
	"context"
	"fmt"
	"maps"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Head is a table of classes.
type Head[S, C any] struct {
	method Method[S, C]
	model  *Model[S, C]
}

// New returns an unfitted head.
func New[S, C any](method Method[S, C]) Head[S, C] {
	return Head[S, C]{method: method, model: &Model[S, C]{Backend: linalg.Backend{}}}
}

// Model returns what the head has learned; the caller must not change it.
func (h *Head[S, C]) Model() *Model[S, C] { return h.model }

// Classes implements classifier.Head.
func (h *Head[S, C]) Classes() []string { return h.model.Classes.Names() }

// Dim implements classifier.Head.
func (h *Head[S, C]) Dim() int { return h.model.Dim }

// Score implements classifier.Head.
func (h *Head[S, C]) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	var s classifier.Scoring
	if h.model.Fitted() {
		s = h.method.Scoring(h.model)
	}
	s.Method, s.Head = h.method.Name, h
	return s.Score(dst, novelty, x)
}

// UseBackend implements classifier.BackendUser, for fitting and scoring. A
// fitted head is prepared again, to be identical to the last bit to one that
// was learned with b; if b fails at that, the head keeps its backend.
func (h *Head[S, C]) UseBackend(b linalg.Backend) {
	_ = h.Update(func(m *Model[S, C]) error { // on an error nothing changes
		m.Backend = b
		return nil
	})
}

// Share gives h all that another head of the same method and settings has learned.
// Since every change builds a new model, none reaches the other head.
func (h *Head[S, C]) Share(other *Head[S, C]) { h.model = other.model }

// Update changes the model and prepares all of its classes for scoring. On
// error the head is unchanged.
func (h *Head[S, C]) Update(change func(m *Model[S, C]) error) error {
	next := h.model.Clone()
	if err := change(next); err != nil {
		return err
	}
	if next.Fitted() {
		if err := h.method.Rescore(next, dense.Range(0, next.Classes.Len())); err != nil {
			return err
		}
	}
	h.model = next
	return nil
}

// Learn implements classifier.Learner. Adding examples to an old class needs
// its statistics if the method fits from them; the error wraps
// classifier.ErrNoStatistics if they are missing.
func (h *Head[S, C]) Learn(ctx context.Context, x blas32.General, y []string) error {
	s, err := moments.NewSession(x, y, h.model.Dim, h.method.Unit)
	if err == nil {
		err = h.learn(ctx, s)
	}
	return h.named("learn", err)
}

// LearnMoments learns a session from statistics, for heads that implement
// moments.Learner.
func (h *Head[S, C]) LearnMoments(ctx context.Context, classes []string, stats []*moments.Moments) error {
	s, err := moments.SessionOf(classes, stats, h.model.Dim)
	if err == nil {
		err = h.learn(ctx, s)
	}
	return h.named("learn statistics", err)
}

func (h *Head[S, C]) learn(ctx context.Context, s *moments.Session) error {
	next := h.model.Clone()
	next.Dim = s.Dim
	if !h.model.Fitted() && h.method.Base != nil {
		if err := h.method.Base(ctx, next, s); err != nil {
			return err
		}
	}
	return h.apply(ctx, next, s, false)
}

// Forget implements classifier.Forgetter.
func (h *Head[S, C]) Forget(name string) error {
	if _, ok := h.model.Classes.Get(name); !ok {
		return fmt.Errorf("%s: forget %q: %w", h.method.Name, name, classifier.ErrUnknownClass)
	}
	next := h.model.Clone()
	return h.named("forget", h.replace(context.Background(), next, nil, []fitted{{class: name}}, make([]C, 1)))
}

// fitted is the outcome of fitting one class; a class that is not kept
// vanishes.
type fitted struct {
	class string
	stats *moments.Moments
	kept  bool
}

// packed is the number of classes that are fitted before Method.Pack moves them
// together.
const packed = 64

// apply fits the classes of a session and puts them into next, which becomes
// the model.
func (h *Head[S, C]) apply(ctx context.Context, next *Model[S, C], s *moments.Session, removed bool) error {
	n := len(s.Classes)
	classes, values, size := make([]fitted, n), make([]C, n), n
	if h.method.Pack != nil {
		size = packed
	}
	for first := 0; first < n; first += size {
		last := min(first+size, n)
		err := dense.ParallelErr(last-first, func(i int) error {
			err := ctx.Err()
			if i += first; err == nil {
				classes[i], values[i], err = h.fit(next, Change{Examples: s.Classes[i], Removed: removed})
			}
			if err != nil {
				return fmt.Errorf("class %q: %w", s.Classes[i].Class, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if h.method.Pack != nil {
			h.method.Pack(values[first:last])
		}
	}
	if removed {
		s = nil
	}
	return h.replace(ctx, next, s, classes, values)
}

func (h *Head[S, C]) fit(m *Model[S, C], c Change) (f fitted, value C, err error) {
	f = fitted{class: c.Class, kept: true}
	old, known := m.Classes.Get(c.Class)
	if c.Removed && !known {
		return f, value, classifier.ErrUnknownClass
	}
	if h.method.Made != nil {
		if c.Stats, err = m.changed(c, known); err != nil {
			return f, value, err
		}
		if f.kept = c.Stats.N() > 0; !f.kept {
			return f, value, nil
		}
		if h.method.Keep {
			f.stats = c.Stats
		}
	}
	value, err = h.method.Fit(m, old, c)
	if err == nil && c.Removed && h.method.Count != nil {
		f.kept = h.method.Count(value) > 0
	}
	return f, value, err
}

// replace puts changed classes in their columns, drops those that vanish, and
// makes next the model.
func (h *Head[S, C]) replace(ctx context.Context, next *Model[S, C], s *moments.Session, classes []fitted,
	values []C) error {
	next.stats = maps.Clone(next.stats)
	if next.stats == nil {
		next.stats = make(map[string]*moments.Moments)
	}
	for i, c := range classes {
		delete(next.stats, c.class)
		if !c.kept {
			next.Classes.Drop(c.class)
			continue
		}
		next.Classes.Put(c.class, values[i])
		if c.stats != nil {
			next.stats[c.class] = c.stats
		}
	}
	if !next.Fitted() {
		h.model = &Model[S, C]{Backend: next.Backend}
		return nil
	}
	if h.method.Settle != nil {
		if err := h.method.Settle(ctx, next, s, h.model.Classes.Len()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var changed []int
	for _, c := range classes {
		if i, ok := next.Classes.Column(c.class); ok {
			changed = append(changed, i)
		}
	}
	if err := h.method.Rescore(next, changed); err != nil {
		return err
	}
	h.model = next
	return nil
}

// AddEmpty adds classes that have no examples yet to a fitted head; known classes do
// not change.
func (h *Head[S, C]) AddEmpty(operation string, empty func(m *Model[S, C]) C, classes ...string) error {
	if err := h.CheckFitted(operation); err != nil {
		return err
	}
	return h.Update(func(m *Model[S, C]) error {
		for _, name := range classes {
			if _, ok := m.Classes.Get(name); !ok {
				m.Classes.Put(name, empty(m))
			}
		}
		return nil
	})
}

// CheckFitted returns an error for an operation that needs a base session.
func (h *Head[S, C]) CheckFitted(operation string) error {
	if h.model.Fitted() {
		return nil
	}
	return h.named(operation, classifier.ErrNotFitted)
}

func (h *Head[S, C]) named(operation string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %s: %w", h.method.Name, operation, err)
	}
	return nil
}
