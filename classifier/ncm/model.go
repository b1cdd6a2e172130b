package ncm

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// subtract removes a group of examples from their class.
func (m *model) subtract(cfg Config, x blas32.General, g classifier.Group) error {
	old, ok := m.classes.Get(g.Class)
	if !ok {
		return classifier.ErrUnknownClass
	}
	longest := math.Inf(1)
	if cfg.Metric == Cosine {
		longest = 1
	}
	rest, err := old.Minus(cfg.place(x, g.Rows), longest)
	if err != nil {
		return err
	}
	if rest.N == 0 {
		m.classes.Drop(g.Class)
	} else {
		m.classes.Put(g.Class, rest)
	}
	return nil
}

// derive computes what scoring needs from the sums. Without classes the head
// is unfitted again.
func (m *model) derive(cfg Config) {
	C := m.classes.Len()
	if C == 0 {
		*m = model{}
		return
	}
	m.centre = make([]float64, m.dim)
	m.means = dense.New(C, m.dim)
	for i, c := range m.classes.Values() {
		mean := c.Mean()
		if cfg.Metric == Cosine {
			mean = c.Direction()
		}
		copy(m.means.Data[i*m.dim:(i+1)*m.dim], mean)
	}
	if cfg.Metric == Euclidean {
		m.recentre()
	}
	if cfg.Temperature > 0 {
		m.tau = cfg.Temperature
	}
}

// recentre moves the origin to the mean of the means, so that an offset that
// all embeddings share does not cost digits.
func (m *model) recentre() {
	C := m.means.Rows
	for i := range C {
		for j := range m.dim {
			m.centre[j] += m.means.Data[i*m.dim+j] / float64(C)
		}
	}
	m.sq = make([]float64, C)
	for i := range C {
		row := m.means.Data[i*m.dim : (i+1)*m.dim]
		for j := range row {
			row[j] -= m.centre[j]
			m.sq[i] += row[j] * row[j]
		}
	}
}
