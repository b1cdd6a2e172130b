package moments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Session holds the examples of some classes: embeddings or statistics of
// them.
type Session struct {
	// X (n×d) holds the embeddings and Y their labels; both are empty if there
	// are only statistics.
	X blas32.General
	Y []string
	// Dim is d.
	Dim int
	// Classes are sorted by name.
	Classes []Examples
}

// Examples holds the examples of one class in a session.
type Examples struct {
	Class string
	// Rows are the positions of the examples in X, ascending.
	Rows []int

	x     blas32.General
	unit  bool
	stats *Moments // instead of Rows
}

// NewSession groups labelled embeddings by class: row i of x (n×d, where d is
// dim unless dim is 0) is an example of y[i]. With unit set they are scaled to
// length 1.
func NewSession(x blas32.General, y []string, dim int, unit bool) (*Session, error) {
	if err := classifier.CheckExamples(x, y, dim); err != nil {
		return nil, err
	}
	s := &Session{X: x, Y: y, Dim: x.Cols}
	for _, g := range classifier.GroupByClass(y) {
		s.Classes = append(s.Classes, Examples{Class: g.Class, Rows: g.Rows, x: x, unit: unit})
	}
	return s, nil
}

// SessionOf returns a session from statistics: stats[i] are those of
// classes[i]. Names must be distinct, and all statistics must have the same
// dimension and at least one example.
func SessionOf(classes []string, stats []*Moments, dim int) (*Session, error) {
	if len(classes) == 0 || len(classes) != len(stats) {
		return nil, fmt.Errorf("%d classes with %d statistics", len(classes), len(stats))
	}
	if err := classifier.CheckClasses(classes); err != nil {
		return nil, err
	}
	s := &Session{Dim: dim}
	for i, m := range stats {
		if m.n == 0 {
			return nil, fmt.Errorf("class %q: %w", classes[i], errEmpty)
		}
		if s.Dim == 0 {
			s.Dim = m.d
		}
		if m.d != s.Dim {
			return nil, fmt.Errorf("class %q: statistics of %d values per example, want %d: they come from another "+
				"backbone", classes[i], m.d, s.Dim)
		}
		s.Classes = append(s.Classes, Examples{Class: classes[i], stats: m})
	}
	slices.SortFunc(s.Classes, func(a, b Examples) int { return strings.Compare(a.Class, b.Class) })
	return s, nil
}

// HasExamples reports whether the session holds the embeddings themselves.
func (s *Session) HasExamples() bool { return len(s.Y) > 0 }

// Totals returns the first moments of the classes.
func (s *Session) Totals() []Total {
	totals := make([]Total, len(s.Classes))
	dense.Parallel(len(totals), func(i int) { totals[i] = s.Classes[i].AddedTo(Total{}) })
	return totals
}

// Stats returns the statistics that replace the examples, nil if the embeddings
// are available.
func (e Examples) Stats() *Moments { return e.stats }

// Stored returns the embeddings as Float32 does; false if all that there is are
// statistics in the full form.
func (e Examples) Stored() (blas32.General, bool) {
	switch {
	case e.stats == nil:
		return e.Float32(), true
	case e.stats.Thin():
		return e.stats.matrix(), true
	}
	return blas32.General{}, false
}

// Float32 copies the embeddings, scaled to length 1 if the session asks for it.
func (e Examples) Float32() blas32.General {
	if e.unit {
		return classifier.UnitRows(e.x, e.Rows)
	}
	return dense.Gather32(e.x, e.Rows)
}

// Float64 is Float32 in float64, without rounding the scaled embeddings.
func (e Examples) Float64() blas64.General { return classifier.Placed(e.x, e.Rows, e.unit) }

// AddTo adds the examples to m.
func (e Examples) AddTo(m *Moments) error {
	switch {
	case e.stats == nil:
		return m.Give(e.Float32())
	case m.n == 0:
		solver := m.solver
		*m = *e.stats.Clone()
		m.solver = solver
		return nil
	}
	return m.Merge(e.stats)
}

// AddedTo returns the total with the examples added.
func (e Examples) AddedTo(t Total) Total {
	if e.stats != nil {
		return t.And(e.stats.Total())
	}
	return t.plus(e.Float64())
}

// RemovedFrom returns the total without the examples, as Total.Minus does.
func (e Examples) RemovedFrom(t Total) (Total, error) {
	longest := math.Inf(1)
	if e.unit {
		longest = 1
	}
	return t.minus(e.Float64(), longest)
}

// Scatter returns the sum of squared distances of the examples from their mean.
func (e Examples) Scatter() float64 {
	if e.stats != nil {
		return e.stats.Trace()
	}
	return Scatter(e.Float64())
}
