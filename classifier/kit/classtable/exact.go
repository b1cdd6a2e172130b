package classtable

import (
	"context"
	"fmt"
	"maps"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
)

var (
	_ classifier.Learner          = (*Head[any, any])(nil)
	_ classifier.Forgetter        = (*Head[any, any])(nil)
	_ classifier.Saver            = (*Head[any, any])(nil)
	_ classifier.BackendUser      = (*Head[any, any])(nil)
	_ classifier.SampleForgetter  = (*Exact[any, any])(nil)
	_ classifier.Renamer          = (*Exact[any, any])(nil)
	_ classifier.StatisticsKeeper = (*Kept[any, any])(nil)
)

// An Exact head can remove single examples from its classes.
type Exact[S, C any] struct{ Head[S, C] }

// NewExact returns an unfitted head.
func NewExact[S, C any](method Method[S, C]) Exact[S, C] { return Exact[S, C]{New(method)} }

// ForgetSamples implements classifier.SampleForgetter.
func (h *Exact[S, C]) ForgetSamples(x blas32.General, y []string) error {
	s, err := moments.NewSession(x, y, h.model.Dim, h.method.Unit)
	if err == nil {
		err = h.apply(context.Background(), h.model.Clone(), s, true)
	}
	return h.named("forget samples", err)
}

// Joins implements classifier.Renamer.
func (h *Exact[S, C]) Joins() bool { return h.method.Join != nil }

// Rename implements classifier.Renamer.
func (h *Exact[S, C]) Rename(class, to string) error {
	return h.named(fmt.Sprintf("rename %q", class), h.Update(func(m *Model[S, C]) error {
		c, ok := m.Classes.Get(class)
		other, joins := m.Classes.Get(to)
		switch {
		case !ok:
			return classifier.ErrUnknownClass
		case class == to:
			return nil
		case joins && !h.Joins():
			return fmt.Errorf("there is a class %q, and two classes cannot become one: %w", to,
				classifier.ErrUnsupported)
		case joins:
			m.Classes.Put(to, h.method.Join(other, c))
			m.Classes.Drop(class)
		default:
			m.Classes.Rename(class, to)
		}
		if stats, ok := m.stats[class]; ok {
			m.stats = maps.Clone(m.stats)
			delete(m.stats, class)
			m.stats[to] = stats
		}
		return nil
	}))
}

// A Kept head fits its classes from exact statistics, which it stores
// separately from the model and which may be missing.
type Kept[S, C any] struct{ Exact[S, C] }

// NewKept returns an unfitted head.
func NewKept[S, C any](method Method[S, C]) Kept[S, C] { return Kept[S, C]{NewExact(method)} }

// changed returns the statistics of a class after a change.
func (m *Model[S, C]) changed(c Change, known bool) (*moments.Moments, error) {
	stats := moments.New(m.Dim)
	if known {
		old, ok := m.stats[c.Class]
		if !ok {
			return nil, fmt.Errorf("%w: a learned class cannot gain or lose examples because the statistics side "+
				"file is missing (or statistics were switched off): put it back next to the model, or forget the "+
				"class and learn all of its examples again", classifier.ErrNoStatistics)
		}
		stats = old.Clone()
	}
	stats.Use(m.Backend)
	if c.Removed {
		return stats, stats.Remove(c.Float32())
	}
	return stats, c.AddTo(stats)
}

// Moments implements moments.Keeper.
func (h *Kept[S, C]) Moments(class string) *moments.Moments { return h.model.stats[class] }

// Statistics implements classifier.StatisticsKeeper: it returns the exact
// statistics of every class that has them. Tensor names begin with the position
// of the class in the settings, as in "3.rows". For classes with up to d
// examples the statistics are the embeddings themselves.
func (h *Kept[S, C]) Statistics() (classifier.State, error) {
	side := settings{Method: h.method.Name, Learned: classifier.Learned{Dim: h.model.Dim}}
	var stats []*moments.Moments
	for _, name := range h.Classes() {
		if m, ok := h.model.stats[name]; ok {
			side.Classes, stats = append(side.Classes, name), append(stats, m)
		}
	}
	return h.state(side, moments.Stack(stats))
}

// RestoreStatistics implements classifier.StatisticsKeeper. Statistics that
// belong to another model are an error; on error nothing changes.
func (h *Kept[S, C]) RestoreStatistics(s classifier.State) error {
	var side settings
	err := s.Decode(&side)
	if err == nil {
		err = h.restoreSide(side.Learned, s)
	}
	return h.named("restore statistics", err)
}

func (h *Kept[S, C]) restoreSide(side classifier.Learned, s classifier.State) error {
	next := h.model.Clone()
	if len(side.Classes) > 0 && side.Dim != next.Dim {
		return fmt.Errorf("the statistics have %d values per example, the model has %d", side.Dim, next.Dim)
	}
	stats, err := moments.Unstack(next.Dim, len(side.Classes), s.Tensors)
	if err != nil {
		return err
	}
	next.stats = maps.Clone(next.stats)
	if next.stats == nil {
		next.stats = make(map[string]*moments.Moments, len(stats))
	}
	for i, name := range side.Classes {
		c, ok := next.Classes.Get(name)
		if !ok {
			return fmt.Errorf("%q: %w: the statistics belong to another model", name, classifier.ErrUnknownClass)
		}
		if !h.method.Made(c, stats[i]) {
			return fmt.Errorf("class %q: the statistics belong to another model or to an older session", name)
		}
		next.stats[name] = stats[i]
	}
	h.model = next
	return nil
}
